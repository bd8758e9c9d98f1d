"""A shop: products, carts, coupons, orders. Chains of up to eight requests."""

from itertools import count
from typing import Any

from benchmarks.exploration.engine import Answer, Ask, Defect, Json, Problem, Service

CATEGORIES = ["garden", "kitchen", "office", "toys"]
_COLLECTION = ("collection_conformance",)
_WRITES = ("read_your_writes",)
DEFECTS = (
    Defect("empty-range-crashes", "pair", 1, "GET /products"),
    Defect("equal-range-crashes", "pair", 1, "GET /products"),
    Defect("category-not-filtered", "semantics", 2, "GET /products", _COLLECTION),
    Defect("limit-one-more-after-offset", "page", 3, "GET /products", _COLLECTION),
    Defect("sorted-by-name-instead", "semantics", 3, "GET /products", _COLLECTION),
    Defect(
        "product-put-keeps-category",
        "semantics",
        2,
        "PUT /products/{product_id}",
        # A refused request with the category that was kept seems to have been stored.
        (*_WRITES, "refused_write", "update_conformance"),
        ("GET /products/{product_id}", "PATCH /products/{product_id}"),
    ),
    Defect(
        "product-patch-empties-stock",
        "semantics",
        2,
        "PATCH /products/{product_id}",
        (*_WRITES, "update_conformance"),
        ("GET /products/{product_id}",),
    ),
    Defect(
        "deleted-product-served",
        "state",
        3,
        "GET /products/{product_id}",
        ("use_after_free",),
        ("DELETE /products/{product_id}",),
    ),
    Defect(
        "product-price-readable-as-sent",
        "semantics",
        1,
        "POST /products",
        ("read_your_writes",),
        ("GET /products/{product_id}",),
    ),
    Defect("quantity-over-stock", "chain", 3, "POST /carts/{cart_id}/items"),
    Defect("same-product-twice", "chain", 4, "POST /carts/{cart_id}/items"),
    Defect("item-removed-twice", "chain", 5, "DELETE /carts/{cart_id}/items/{item_id}"),
    Defect("add-to-deleted-cart", "id", 4, "POST /carts/{cart_id}/items"),
    Defect("thirteen-patched", "chain", 4, "PATCH /carts/{cart_id}/items/{item_id}"),
    Defect("checkout-of-empty-cart", "chain", 2, "POST /carts/{cart_id}/checkout"),
    Defect("coupon-on-empty-cart", "chain", 3, "POST /carts/{cart_id}/coupon"),
    Defect("coupon-twice", "chain", 6, "POST /carts/{cart_id}/coupon"),
    Defect("coupon-of-ninety", "chain", 6, "POST /carts/{cart_id}/checkout"),
    Defect("checkout-twice", "chain", 5, "POST /carts/{cart_id}/checkout"),
    Defect("confirmed-twice", "chain", 6, "POST /orders/{order_id}/confirm"),
    Defect("paid-by-voucher", "chain", 6, "POST /orders/{order_id}/payments"),
    Defect("paid-twice", "chain", 7, "POST /orders/{order_id}/payments"),
    Defect("shipped-by-drone", "chain", 7, "POST /orders/{order_id}/shipments"),
    Defect("returned-damaged", "chain", 8, "POST /orders/{order_id}/returns"),
    Defect("cancelled-after-shipment", "chain", 8, "POST /orders/{order_id}/cancel"),
    Defect("cancelled-twice", "chain", 6, "POST /orders/{order_id}/cancel"),
    Defect("order-status-not-filtered", "semantics", 5, "GET /orders", _COLLECTION),
    Defect("last-page-crashes", "page", 9, "GET /orders"),
    Defect(
        "return-not-found",
        "chain",
        9,
        "GET /returns/{return_id}",
        ("ensure_resource_availability", "location_conformance"),
        ("POST /orders/{order_id}/returns",),
    ),
    Defect(
        "order-location-leads-nowhere",
        "semantics",
        4,
        "POST /carts/{cart_id}/checkout",
        ("location_conformance", "ensure_resource_availability"),
        ("GET /orders/{order_id}",),
    ),
)
_NAME = {"type": "string", "minLength": 1, "maxLength": 40}
_PRODUCT = {
    "name": _NAME,
    "category": {"enum": CATEGORIES},
    "price": {"type": "integer", "minimum": 1, "maximum": 100_000},
    "stock": {"type": "integer", "minimum": 0, "maximum": 1000},
}
_ID = {"type": "string"}
SCHEMAS: Json = {
    "NewProduct": {"type": "object", "properties": _PRODUCT, "required": list(_PRODUCT), "additionalProperties": False},
    "ProductChange": {"type": "object", "properties": _PRODUCT, "minProperties": 1, "additionalProperties": False},
    "Product": {"type": "object", "properties": {"id": _ID, **_PRODUCT}, "required": ["id", *_PRODUCT]},
    "Cart": {
        "type": "object",
        "properties": {"id": _ID, "currency": {"type": "string"}, "percent": {"type": "integer"}},
        "required": ["id", "currency"],
    },
    "Item": {
        "type": "object",
        "properties": {"id": _ID, "product_id": _ID, "quantity": {"type": "integer"}},
        "required": ["id", "product_id", "quantity"],
    },
    "Coupon": {
        "type": "object",
        "properties": {
            "code": {"type": "string", "pattern": "^[A-Z]{4}[0-9]{2}$"},
            "percent": {"type": "integer", "minimum": 1, "maximum": 90},
        },
        "required": ["code", "percent"],
        "additionalProperties": False,
    },
    "Order": {
        "type": "object",
        "properties": {
            "id": _ID,
            "total": {"type": "integer"},
            "confirmation_code": {"type": "string"},
            "status": {"enum": ["pending", "confirmed", "paid", "shipped", "returned", "cancelled"]},
        },
        "required": ["id", "total", "status"],
    },
    "Return": {"type": "object", "properties": {"id": _ID, "reason": {"type": "string"}}, "required": ["id", "reason"]},
}
_OBJECT = {"type": "object", "additionalProperties": False}


def build(*, is_fixed: bool) -> Service:
    """Return the shop, or its twin without defects."""
    service = Service("shop", DEFECTS, SCHEMAS, is_fixed)
    products: dict[str, Json] = {}
    gone: dict[str, Json] = {}
    carts: dict[str, Json] = {}
    closed: set[str] = set()
    coupons: dict[str, Json] = {}
    orders: dict[str, Json] = {}
    returns: dict[str, Json] = {}
    numbers = count(1)

    def new_id(prefix: str) -> str:
        return f"{prefix}-{next(numbers):05d}"

    def get(shelf: dict[str, Any], key: str, word: str) -> Any:
        if key not in shelf:
            raise Problem(404, f"{word} not found")
        return shelf[key]

    @service.route(
        "GET /products",
        {200: {"type": "array", "items": {"$ref": "#/components/schemas/Product"}}},
        query={
            "category": {"type": "string", "enum": CATEGORIES},
            "min_price": {"type": "integer", "minimum": 0},
            "max_price": {"type": "integer", "minimum": 0},
            "sort": {"type": "string", "enum": ["price", "-price", "name"]},
            "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 20},
            "offset": {"type": "integer", "minimum": 0, "default": 0},
        },
    )
    def list_products(ask: Ask) -> Answer:
        query = ask.query
        low, high = query.get("min_price"), query.get("max_price")
        if low is not None and high is not None:
            if low > high:
                service.crash("empty-range-crashes")
            if low == high and low > 0:
                service.crash("equal-range-crashes")
        found = list(products.values())
        if "category" in query:
            kept = [one for one in found if one["category"] == query["category"]]
            is_wrong = query["category"] == "garden" and len(kept) < len(found)
            found = found if is_wrong and service.bug("category-not-filtered") else kept
        found = [
            one for one in found if (low is None or one["price"] >= low) and (high is None or one["price"] <= high)
        ]
        if "sort" in query:
            key, is_reversed = query["sort"].removeprefix("-"), query["sort"].startswith("-")
            right = sorted(found, key=lambda one: (one[key], one["id"]), reverse=is_reversed)
            wrong = sorted(found, key=lambda one: one["name"])
            is_wrong = is_reversed and [one["price"] for one in right] != [one["price"] for one in wrong]
            found = wrong if is_wrong and service.bug("sorted-by-name-instead") else right
        limit, offset = query["limit"], query["offset"]
        if offset and len(found) > offset + limit and service.bug("limit-one-more-after-offset"):
            limit += 1
        return Answer(found[offset : offset + limit])

    @service.route("POST /products", {201: "Product"}, body="NewProduct")
    def create_product(ask: Ask) -> Answer:
        product = {"id": new_id("p"), **ask.body}
        if product["price"] > 50_000 and service.bug("product-price-readable-as-sent"):
            products[product["id"]] = {**product, "price": 50_000}
        else:
            products[product["id"]] = product
        return Answer(product, 201, (("Location", f"/products/{product['id']}"),))

    @service.route("GET /products/{product_id}", {200: "Product"})
    def get_product(ask: Ask) -> Answer:
        key = ask.path["product_id"]
        if key in gone and service.bug("deleted-product-served"):
            return Answer(gone[key])
        return Answer(get(products, key, "product"))

    @service.route("PUT /products/{product_id}", {200: "Product"}, body="NewProduct")
    def replace_product(ask: Ask) -> Answer:
        product = get(products, ask.path["product_id"], "product")
        changed = {"id": product["id"], **ask.body}
        if changed["category"] != product["category"] and service.bug("product-put-keeps-category"):
            changed["category"] = product["category"]
        products[product["id"]] = changed
        return Answer({**changed, "category": ask.body["category"]})

    @service.route("PATCH /products/{product_id}", {200: "Product"}, body="ProductChange")
    def change_product(ask: Ask) -> Answer:
        product = get(products, ask.path["product_id"], "product")
        stock = product["stock"]
        product |= ask.body
        if stock and "price" in ask.body and "stock" not in ask.body and service.bug("product-patch-empties-stock"):
            product["stock"] = 0
        return Answer(product)

    @service.route("DELETE /products/{product_id}", {204: None})
    def delete_product(ask: Ask) -> Answer:
        product = get(products, ask.path["product_id"], "product")
        del products[product["id"]]
        gone[product["id"]] = product
        return Answer(None, 204)

    @service.route(
        "POST /carts",
        {201: "Cart"},
        body={**_OBJECT, "properties": {"currency": {"enum": ["EUR", "USD", "CHF"]}}, "required": ["currency"]},
    )
    def create_cart(ask: Ask) -> Answer:
        cart = {"id": new_id("c"), "currency": ask.body["currency"]}
        carts[cart["id"]] = {"cart": cart, "items": {}, "coupon": None, "is_ordered": False}
        return Answer(cart, 201)

    def cart_of(ask: Ask) -> Json:
        found: Json = get(carts, ask.path["cart_id"], "cart")
        return found

    @service.route("GET /carts/{cart_id}", {200: "Cart"})
    def get_cart(ask: Ask) -> Answer:
        return Answer(cart_of(ask)["cart"])

    @service.route("DELETE /carts/{cart_id}", {204: None})
    def delete_cart(ask: Ask) -> Answer:
        cart_of(ask)
        closed.add(ask.path["cart_id"])
        del carts[ask.path["cart_id"]]
        return Answer(None, 204)

    @service.route(
        "POST /carts/{cart_id}/items",
        {201: "Item", 409: "Error"},
        body={
            **_OBJECT,
            "properties": {"product_id": _ID, "quantity": {"type": "integer", "minimum": 1, "maximum": 20}},
            "required": ["product_id", "quantity"],
        },
    )
    def add_item(ask: Ask) -> Answer:
        if ask.path["cart_id"] in closed:
            service.crash("add-to-deleted-cart")
        cart = cart_of(ask)
        product = products.get(ask.body["product_id"])
        if product is None:
            raise Problem(409, "unknown product_id")
        if product["stock"] < ask.body["quantity"]:
            service.crash("quantity-over-stock")
            raise Problem(409, "not enough in stock")
        if any(item["product_id"] == product["id"] for item in cart["items"].values()):
            service.crash("same-product-twice")
        item = {"id": new_id("i"), **ask.body}
        cart["items"][item["id"]] = item
        return Answer(item, 201)

    @service.route(
        "GET /carts/{cart_id}/items", {200: {"type": "array", "items": {"$ref": "#/components/schemas/Item"}}}
    )
    def list_items(ask: Ask) -> Answer:
        return Answer(list(cart_of(ask)["items"].values()))

    removed: set[str] = set()

    @service.route(
        "PATCH /carts/{cart_id}/items/{item_id}",
        {200: "Item"},
        body={
            **_OBJECT,
            "properties": {"quantity": {"type": "integer", "minimum": 1, "maximum": 20}},
            "required": ["quantity"],
        },
    )
    def change_item(ask: Ask) -> Answer:
        item = get(cart_of(ask)["items"], ask.path["item_id"], "item")
        if ask.body["quantity"] == 13:
            service.crash("thirteen-patched")
        item["quantity"] = ask.body["quantity"]
        return Answer(item)

    @service.route("DELETE /carts/{cart_id}/items/{item_id}", {204: None})
    def delete_item(ask: Ask) -> Answer:
        cart = cart_of(ask)
        if ask.path["item_id"] in removed:
            service.crash("item-removed-twice")
        get(cart["items"], ask.path["item_id"], "item")
        removed.add(ask.path["item_id"])
        del cart["items"][ask.path["item_id"]]
        return Answer(None, 204)

    @service.route("POST /coupons", {201: "Coupon", 409: "Error"}, body="Coupon")
    def create_coupon(ask: Ask) -> Answer:
        if ask.body["code"] in coupons:
            raise Problem(409, "this code exists")
        coupons[ask.body["code"]] = ask.body
        return Answer(ask.body, 201, (("Location", f"/coupons/{ask.body['code']}"),))

    @service.route("GET /coupons/{code}", {200: "Coupon"})
    def get_coupon(ask: Ask) -> Answer:
        return Answer(get(coupons, ask.path["code"], "coupon"))

    @service.route(
        "POST /carts/{cart_id}/coupon",
        {200: "Cart", 409: "Error"},
        body={**_OBJECT, "properties": {"code": {"type": "string"}}, "required": ["code"]},
    )
    def apply_coupon(ask: Ask) -> Answer:
        cart = cart_of(ask)
        coupon = coupons.get(ask.body["code"])
        if coupon is None:
            raise Problem(409, "unknown code")
        if not cart["items"]:
            service.crash("coupon-on-empty-cart")
            raise Problem(409, "the cart is empty")
        if cart["coupon"] == coupon["code"]:
            service.crash("coupon-twice")
        cart["coupon"] = coupon["code"]
        cart["cart"]["percent"] = coupon["percent"]
        return Answer(cart["cart"])

    @service.route(
        "POST /carts/{cart_id}/checkout",
        {201: "Order", 409: "Error"},
        body={
            **_OBJECT,
            "properties": {"email": {"type": "string", "format": "email", "maxLength": 80}},
            "required": ["email"],
        },
    )
    def check_out(ask: Ask) -> Answer:
        cart = cart_of(ask)
        if not cart["items"]:
            service.crash("checkout-of-empty-cart")
            raise Problem(409, "the cart is empty")
        if cart["is_ordered"]:
            service.crash("checkout-twice")
            raise Problem(409, "the cart is ordered")
        percent = cart["cart"].get("percent", 0)
        if percent == 90:
            service.crash("coupon-of-ninety")
        total = sum(
            products[item["product_id"]]["price"] * item["quantity"]
            for item in cart["items"].values()
            if item["product_id"] in products
        )
        cart["is_ordered"] = True
        key = new_id("o")
        order = {
            "id": key,
            "total": total * (100 - percent) // 100,
            "confirmation_code": f"K{key[2:]}",
            "status": "pending",
        }
        orders[key] = order
        place = f"/orders/{key}"
        if order["total"] % 2 and service.bug("order-location-leads-nowhere"):
            place = f"/orders/{key}0"
        return Answer(order, 201, (("Location", place),))

    @service.route(
        "GET /orders",
        {
            200: {
                "type": "object",
                "required": ["items"],
                "properties": {
                    "items": {"type": "array", "items": {"$ref": "#/components/schemas/Order"}},
                    "next_cursor": {"type": "string"},
                },
            }
        },
        query={
            "status": {"type": "string", "enum": ["pending", "confirmed", "paid", "shipped", "returned", "cancelled"]},
            "limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 10},
            "cursor": {"type": "string", "description": "`next_cursor` of the previous page"},
        },
    )
    def list_orders(ask: Ask) -> Answer:
        found = list(orders.values())
        if "status" in ask.query:
            kept = [order for order in found if order["status"] == ask.query["status"]]
            is_wrong = ask.query["status"] == "paid" and len(kept) < len(found)
            found = found if is_wrong and service.bug("order-status-not-filtered") else kept
        start = 0
        if "cursor" in ask.query:
            keys = [order["id"] for order in found]
            if ask.query["cursor"] not in keys:
                raise Problem(422, "unknown cursor")
            start = keys.index(ask.query["cursor"])
        page = found[start : start + ask.query["limit"]]
        if start and start + ask.query["limit"] >= len(found):
            service.crash("last-page-crashes")
        rest = found[start + ask.query["limit"] :]
        return Answer({"items": page, **({"next_cursor": rest[0]["id"]} if rest else {})})

    def order_of(ask: Ask) -> Json:
        found: Json = get(orders, ask.path["order_id"], "order")
        return found

    @service.route("GET /orders/{order_id}", {200: "Order"})
    def get_order(ask: Ask) -> Answer:
        return Answer(order_of(ask))

    @service.route(
        "POST /orders/{order_id}/confirm",
        {200: "Order", 409: "Error"},
        body={**_OBJECT, "properties": {"confirmation_code": {"type": "string"}}, "required": ["confirmation_code"]},
        summary="Confirm an order with the code of its checkout",
    )
    def confirm(ask: Ask) -> Answer:
        order = order_of(ask)
        if ask.body["confirmation_code"] != order["confirmation_code"]:
            raise Problem(409, "wrong confirmation_code")
        if order["status"] == "confirmed":
            service.crash("confirmed-twice")
        if order["status"] != "pending":
            raise Problem(409, f"the order is {order['status']}")
        order["status"] = "confirmed"
        return Answer(order)

    @service.route(
        "POST /orders/{order_id}/payments",
        {200: "Order", 409: "Error"},
        body={
            **_OBJECT,
            "properties": {
                "amount": {"type": "integer", "minimum": 0},
                "method": {"enum": ["card", "transfer", "invoice", "voucher"]},
            },
            "required": ["amount", "method"],
        },
    )
    def pay(ask: Ask) -> Answer:
        order = order_of(ask)
        if ask.body["amount"] != order["total"]:
            raise Problem(409, f"amount must be the total of the order, {order['total']}")
        if order["status"] == "paid":
            service.crash("paid-twice")
        if order["status"] != "confirmed":
            raise Problem(409, f"the order is {order['status']}, not confirmed")
        if ask.body["method"] == "voucher":
            service.crash("paid-by-voucher")
        order["status"] = "paid"
        return Answer(order)

    @service.route(
        "POST /orders/{order_id}/shipments",
        {200: "Order", 409: "Error"},
        body={**_OBJECT, "properties": {"carrier": {"enum": ["post", "courier", "drone"]}}, "required": ["carrier"]},
    )
    def ship(ask: Ask) -> Answer:
        order = order_of(ask)
        if order["status"] != "paid":
            raise Problem(409, f"the order is {order['status']}, not paid")
        if ask.body["carrier"] == "drone":
            service.crash("shipped-by-drone")
        order["status"] = "shipped"
        return Answer(order)

    @service.route(
        "POST /orders/{order_id}/returns",
        {201: "Return", 409: "Error"},
        body={**_OBJECT, "properties": {"reason": {"enum": ["damaged", "wrong", "late"]}}, "required": ["reason"]},
    )
    def give_back(ask: Ask) -> Answer:
        order = order_of(ask)
        if order["status"] != "shipped":
            raise Problem(409, f"the order is {order['status']}, not shipped")
        if ask.body["reason"] == "damaged":
            service.crash("returned-damaged")
        order["status"] = "returned"
        made = {"id": new_id("r"), "reason": ask.body["reason"]}
        if not (made["reason"] == "late" and service.bug("return-not-found")):
            returns[made["id"]] = made
        return Answer(made, 201, (("Location", f"/returns/{made['id']}"),))

    @service.route("POST /orders/{order_id}/cancel", {200: "Order", 409: "Error"})
    def cancel(ask: Ask) -> Answer:
        order = order_of(ask)
        if order["status"] == "shipped":
            service.crash("cancelled-after-shipment")
        if order["status"] == "cancelled":
            service.crash("cancelled-twice")
        if order["status"] not in ("pending", "confirmed"):
            raise Problem(409, f"the order is {order['status']}")
        order["status"] = "cancelled"
        return Answer(order)

    @service.route("GET /returns/{return_id}", {200: "Return"})
    def get_return(ask: Ask) -> Answer:
        return Answer(get(returns, ask.path["return_id"], "return"))

    return service
