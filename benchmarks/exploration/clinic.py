"""A clinic: appointments as a state machine, ordered pairs, rules over two fields, identifiers in headers and bodies."""

from itertools import count
from typing import Any

from benchmarks.exploration.engine import Answer, Ask, Defect, Json, Problem, Service

_COLLECTION = ("collection_conformance",)
_WRITES = ("read_your_writes",)
_APPOINTMENT = "POST /appointments/{appointment_id}"
_CHANGES = ("PUT /patients/{patient_id}", "PATCH /patients/{patient_id}")
DEFECTS = (
    Defect("appointment-of-no-length", "pair", 3, "POST /appointments"),
    Defect("doctor-booked-twice", "chain", 4, "POST /appointments"),
    Defect("patient-booked-with-two-doctors", "chain", 5, "POST /appointments"),
    Defect("finished-before-start", "state", 4, f"{_APPOINTMENT}/finish"),
    Defect("started-twice", "state", 6, f"{_APPOINTMENT}/start"),
    Defect("cancelled-after-finish", "state", 7, f"{_APPOINTMENT}/cancel"),
    Defect("check-in-after-cancel", "state", 5, f"{_APPOINTMENT}/check-in"),
    Defect("finished-with-long-notes", "pair", 6, f"{_APPOINTMENT}/finish"),
    Defect("opioid-for-ninety-days", "pair", 6, f"{_APPOINTMENT}/prescriptions"),
    Defect("prescribed-before-start", "state", 4, f"{_APPOINTMENT}/prescriptions"),
    Defect("fourth-refill", "chain", 10, "POST /prescriptions/{prescription_id}/refills"),
    Defect(
        "prescription-read-counts-as-refill",
        "semantics",
        7,
        "GET /prescriptions/{prescription_id}",
        ("safe_methods", "refused_write", *_WRITES),
    ),
    Defect("invoice-before-finish", "id", 4, "POST /invoices"),
    Defect("second-invoice", "id", 8, "POST /invoices"),
    Defect("invoice-key-reused", "race", 8, "POST /invoices", ("races", "ensure_resource_availability")),
    Defect("paid-twice-with-token", "id", 9, "POST /invoices/{invoice_id}/payment"),
    Defect("appointment-of-deleted-patient", "id", 5, "GET /appointments/{appointment_id}"),
    Defect("list-with-deleted-patient", "id", 5, "GET /appointments"),
    Defect("empty-period-crashes", "pair", 1, "GET /appointments"),
    Defect("doctor-not-filtered", "semantics", 6, "GET /appointments", _COLLECTION),
    Defect("private-without-number", "pair", 1, "POST /patients", shown_by=_CHANGES),
    Defect("born-on-leap-day", "pair", 1, "POST /patients", shown_by=_CHANGES),
    Defect(
        "put-keeps-phone",
        "semantics",
        2,
        "PUT /patients/{patient_id}",
        ("update_conformance", *_WRITES),
        ("GET /patients/{patient_id}",),
    ),
    Defect(
        "discount-can-be-set",
        "semantics",
        1,
        "POST /patients",
        ("mass_assignment", *_WRITES),
        ("GET /patients/{patient_id}",),
    ),
    Defect("total-counts-deleted", "page", 3, "GET /patients", _COLLECTION),
    Defect("second-page-repeats-last", "page", 5, "GET /patients", _COLLECTION),
    Defect(
        "refused-change-is-stored",
        "semantics",
        2,
        "PATCH /patients/{patient_id}",
        ("refused_write",),
        ("GET /patients/{patient_id}",),
    ),
)
_TEXT = {"type": "string", "minLength": 1, "maxLength": 40}
_ID = {"type": "string"}
_PATIENT: Json = {
    "name": _TEXT,
    "born": {"type": "string", "format": "date"},
    "phone": {"type": "string", "pattern": "^\\+[0-9]{6,12}$"},
    "insurance": {
        "type": "object",
        "properties": {"kind": {"enum": ["public", "private", "none"]}, "number": {"type": "string", "maxLength": 20}},
        "required": ["kind"],
        "additionalProperties": False,
    },
}
_STATES = ["booked", "checked_in", "started", "finished", "cancelled"]
SCHEMAS: Json = {
    "NewPatient": {"type": "object", "properties": _PATIENT, "required": ["name", "born", "insurance"]},
    "PatientChange": {"type": "object", "properties": _PATIENT, "minProperties": 1},
    "Patient": {
        "type": "object",
        "properties": {"id": _ID, **_PATIENT, "discount": {"type": "integer", "readOnly": True}},
        "required": ["id", "name", "born", "insurance", "discount"],
    },
    "Doctor": {
        "type": "object",
        "properties": {
            "id": {**_ID, "readOnly": True},
            "name": _TEXT,
            "speciality": {"enum": ["heart", "skin", "eyes"]},
        },
        "required": ["name", "speciality"],
    },
    "NewAppointment": {
        "type": "object",
        "properties": {
            "patient_id": _ID,
            "doctor_id": _ID,
            "starts_at": {"type": "string", "format": "date-time"},
            "ends_at": {"type": "string", "format": "date-time"},
        },
        "required": ["patient_id", "doctor_id", "starts_at", "ends_at"],
        "additionalProperties": False,
    },
    "Appointment": {
        "type": "object",
        "properties": {
            "id": _ID,
            "patient_id": _ID,
            "doctor_id": _ID,
            "starts_at": {"type": "string"},
            "ends_at": {"type": "string"},
            "status": {"enum": _STATES},
        },
        "required": ["id", "patient_id", "doctor_id", "status"],
    },
    "Prescription": {
        "type": "object",
        "properties": {
            "id": _ID,
            "drug": {"type": "string"},
            "days": {"type": "integer"},
            "refills": {"type": "integer"},
        },
        "required": ["id", "drug", "days", "refills"],
    },
    "Invoice": {
        "type": "object",
        "properties": {
            "id": _ID,
            "appointment_id": _ID,
            "payment_token": {"type": "string"},
            "is_paid": {"type": "boolean"},
        },
        "required": ["id", "appointment_id", "is_paid"],
    },
}
_OBJECT = {"type": "object", "additionalProperties": False}


def build(*, is_fixed: bool) -> Service:
    """Return the clinic, or its twin without defects."""
    service = Service("clinic", DEFECTS, SCHEMAS, is_fixed)
    patients: dict[str, Json] = {}
    deleted = 0
    doctors: dict[str, Json] = {}
    appointments: dict[str, Json] = {}
    prescriptions: dict[str, Json] = {}
    invoices: dict[str, Json] = {}
    keys: dict[str, str] = {}
    numbers = count(100)

    def get(shelf: dict[str, Any], key: str, word: str) -> Any:
        if key not in shelf:
            raise Problem(404, f"{word} not found")
        return shelf[key]

    def check_patient(body: Json) -> None:
        insurance = body.get("insurance")
        if insurance and insurance["kind"] == "private" and "number" not in insurance:
            service.crash("private-without-number")
        if body.get("born", "").endswith("-02-29"):
            service.crash("born-on-leap-day")

    def kept(body: Json) -> Json:
        """Return the known properties: further ones are ignored."""
        return {key: value for key, value in body.items() if key in _PATIENT}

    @service.route(
        "GET /patients",
        {
            200: {
                "type": "object",
                "required": ["items", "total"],
                "properties": {
                    "items": {"type": "array", "items": {"$ref": "#/components/schemas/Patient"}},
                    "total": {"type": "integer"},
                },
            }
        },
        query={
            "page": {"type": "integer", "minimum": 1, "default": 1},
            "size": {"type": "integer", "minimum": 1, "maximum": 50, "default": 10},
        },
    )
    def list_patients(ask: Ask) -> Answer:
        found = list(patients.values())
        size, start = ask.query["size"], (ask.query["page"] - 1) * ask.query["size"]
        total = len(found)
        if deleted and service.bug("total-counts-deleted"):
            total += deleted
        if start and start < len(found) and service.bug("second-page-repeats-last"):
            start -= 1
        return Answer({"items": found[start : start + size], "total": total})

    @service.route("POST /patients", {201: "Patient"}, body="NewPatient")
    def create_patient(ask: Ask) -> Answer:
        check_patient(ask.body)
        patient = {"id": f"pa{next(numbers)}", **kept(ask.body), "discount": 0}
        if ask.body.get("discount") and isinstance(ask.body["discount"], int) and service.bug("discount-can-be-set"):
            patient["discount"] = ask.body["discount"]
        patients[patient["id"]] = patient
        return Answer(patient, 201, (("Location", f"/patients/{patient['id']}"),))

    @service.route("GET /patients/{patient_id}", {200: "Patient"})
    def get_patient(ask: Ask) -> Answer:
        return Answer(get(patients, ask.path["patient_id"], "patient"))

    @service.route("PUT /patients/{patient_id}", {200: "Patient"}, body="NewPatient")
    def replace_patient(ask: Ask) -> Answer:
        patient = get(patients, ask.path["patient_id"], "patient")
        check_patient(ask.body)
        changed = {"id": patient["id"], **kept(ask.body), "discount": patient["discount"]}
        shown = dict(changed)
        if "phone" in patient and "phone" not in changed and service.bug("put-keeps-phone"):
            changed["phone"] = patient["phone"]
        patients[patient["id"]] = changed
        return Answer(shown)

    @service.route("PATCH /patients/{patient_id}", {200: "Patient", 409: "Error"}, body="PatientChange")
    def change_patient(ask: Ask) -> Answer:
        patient = get(patients, ask.path["patient_id"], "patient")
        if ask.body.get("insurance", {}).get("kind") == "none":
            if "name" in ask.body and ask.body["name"] != patient["name"] and service.bug("refused-change-is-stored"):
                patient["name"] = ask.body["name"]
            raise Problem(409, "the patient has an insurance")
        check_patient(ask.body)
        patient |= kept(ask.body)
        return Answer(patient)

    @service.route("DELETE /patients/{patient_id}", {204: None})
    def delete_patient(ask: Ask) -> Answer:
        nonlocal deleted
        get(patients, ask.path["patient_id"], "patient")
        del patients[ask.path["patient_id"]]
        deleted += 1
        return Answer(None, 204)

    @service.route("POST /doctors", {201: "Doctor"}, body="Doctor")
    def create_doctor(ask: Ask) -> Answer:
        doctor = {"id": f"do{next(numbers)}", "name": ask.body["name"], "speciality": ask.body["speciality"]}
        doctors[doctor["id"]] = doctor
        return Answer(doctor, 201, (("Location", f"/doctors/{doctor['id']}"),))

    @service.route("GET /doctors/{doctor_id}", {200: "Doctor"})
    def get_doctor(ask: Ask) -> Answer:
        return Answer(get(doctors, ask.path["doctor_id"], "doctor"))

    @service.route("GET /doctors", {200: {"type": "array", "items": {"$ref": "#/components/schemas/Doctor"}}})
    def list_doctors(ask: Ask) -> Answer:
        return Answer(list(doctors.values()))

    @service.route("POST /appointments", {201: "Appointment", 409: "Error"}, body="NewAppointment")
    def book(ask: Ask) -> Answer:
        body = ask.body
        if body["patient_id"] not in patients:
            raise Problem(409, "unknown patient_id")
        if body["doctor_id"] not in doctors:
            raise Problem(409, "unknown doctor_id")
        if body["starts_at"] > body["ends_at"]:
            raise Problem(409, "starts_at must be before ends_at")
        if body["starts_at"] == body["ends_at"]:
            service.crash("appointment-of-no-length")
            raise Problem(409, "starts_at must be before ends_at")
        for other in appointments.values():
            if (
                other["status"] == "cancelled"
                or other["starts_at"] >= body["ends_at"]
                or other["ends_at"] <= body["starts_at"]
            ):
                continue
            if other["doctor_id"] == body["doctor_id"]:
                service.crash("doctor-booked-twice")
                raise Problem(409, "the doctor has another appointment")
            if other["patient_id"] == body["patient_id"]:
                service.crash("patient-booked-with-two-doctors")
                raise Problem(409, "the patient has another appointment")
        appointment = {"id": f"ap{next(numbers)}", **body, "status": "booked"}
        appointments[appointment["id"]] = appointment
        return Answer(appointment, 201, (("Location", f"/appointments/{appointment['id']}"),))

    @service.route(
        "GET /appointments",
        {200: {"type": "array", "items": {"$ref": "#/components/schemas/Appointment"}}},
        query={
            "from": {"type": "string", "format": "date"},
            "to": {"type": "string", "format": "date"},
            "doctor_id": {"type": "string"},
            "status": {"type": "string", "enum": _STATES},
        },
    )
    def list_appointments(ask: Ask) -> Answer:
        query = ask.query
        if "from" in query and "to" in query and query["from"] > query["to"]:
            service.crash("empty-period-crashes")
        if any(one["patient_id"] not in patients for one in appointments.values()):
            service.crash("list-with-deleted-patient")
        found = list(appointments.values())
        if "doctor_id" in query:
            right = [one for one in found if one["doctor_id"] == query["doctor_id"]]
            is_wrong = right and len(right) < len(found)
            found = found if is_wrong and service.bug("doctor-not-filtered") else right
        found = [one for one in found if "status" not in query or one["status"] == query["status"]]
        found = [one for one in found if "from" not in query or one["ends_at"][:10] >= query["from"]]
        return Answer([one for one in found if "to" not in query or one["starts_at"][:10] <= query["to"]])

    def appointment_of(ask: Ask) -> Json:
        found: Json = get(appointments, ask.path["appointment_id"], "appointment")
        return found

    @service.route("GET /appointments/{appointment_id}", {200: "Appointment"})
    def get_appointment(ask: Ask) -> Answer:
        appointment = appointment_of(ask)
        if appointment["patient_id"] not in patients:
            service.crash("appointment-of-deleted-patient")
        return Answer(appointment)

    def must_be(appointment: Json, *statuses: str) -> None:
        if appointment["status"] not in statuses:
            raise Problem(409, f"the appointment is {appointment['status']}, not {' or '.join(statuses)}")

    @service.route(f"{_APPOINTMENT}/check-in", {200: "Appointment", 409: "Error"})
    def check_in(ask: Ask) -> Answer:
        appointment = appointment_of(ask)
        if appointment["status"] == "cancelled":
            service.crash("check-in-after-cancel")
        must_be(appointment, "booked")
        appointment["status"] = "checked_in"
        return Answer(appointment)

    @service.route(f"{_APPOINTMENT}/start", {200: "Appointment", 409: "Error"})
    def start(ask: Ask) -> Answer:
        appointment = appointment_of(ask)
        if appointment["status"] == "started":
            service.crash("started-twice")
        must_be(appointment, "checked_in")
        appointment["status"] = "started"
        return Answer(appointment)

    @service.route(
        f"{_APPOINTMENT}/finish",
        {200: "Appointment", 409: "Error"},
        body={
            **_OBJECT,
            "properties": {"notes": {"type": "string", "maxLength": 500}, "is_urgent": {"type": "boolean"}},
        },
    )
    def finish(ask: Ask) -> Answer:
        appointment = appointment_of(ask)
        if appointment["status"] == "booked":
            service.crash("finished-before-start")
        must_be(appointment, "started")
        if len(ask.body.get("notes", "")) > 100 and ask.body.get("is_urgent"):
            service.crash("finished-with-long-notes")
        appointment["status"] = "finished"
        return Answer(appointment)

    @service.route(
        f"{_APPOINTMENT}/cancel",
        {200: "Appointment", 409: "Error"},
        body={**_OBJECT, "properties": {"reason": {"enum": ["patient", "doctor", "weather"]}}, "required": ["reason"]},
    )
    def cancel(ask: Ask) -> Answer:
        appointment = appointment_of(ask)
        if appointment["status"] == "finished":
            service.crash("cancelled-after-finish")
        must_be(appointment, "booked", "checked_in")
        appointment["status"] = "cancelled"
        return Answer(appointment)

    @service.route(
        f"{_APPOINTMENT}/prescriptions",
        {201: "Prescription", 409: "Error"},
        body={
            **_OBJECT,
            "properties": {
                "drug": {"enum": ["aspirin", "antibiotic", "opioid", "insulin"]},
                "days": {"type": "integer", "minimum": 1, "maximum": 90},
            },
            "required": ["drug", "days"],
        },
    )
    def prescribe(ask: Ask) -> Answer:
        appointment = appointment_of(ask)
        if appointment["status"] == "booked":
            service.crash("prescribed-before-start")
        must_be(appointment, "started", "finished")
        if ask.body["drug"] == "opioid" and ask.body["days"] >= 90:
            service.crash("opioid-for-ninety-days")
        made = {"id": f"pr{next(numbers)}", **ask.body, "refills": 0}
        prescriptions[made["id"]] = made
        return Answer(made, 201, (("Location", f"/prescriptions/{made['id']}"),))

    @service.route("GET /prescriptions/{prescription_id}", {200: "Prescription"})
    def get_prescription(ask: Ask) -> Answer:
        found = get(prescriptions, ask.path["prescription_id"], "prescription")
        if found["drug"] == "insulin" and service.bug("prescription-read-counts-as-refill"):
            found["refills"] += 1
        return Answer(found)

    @service.route("POST /prescriptions/{prescription_id}/refills", {200: "Prescription", 409: "Error"})
    def refill(ask: Ask) -> Answer:
        found = get(prescriptions, ask.path["prescription_id"], "prescription")
        if found["refills"] >= 3:
            service.crash("fourth-refill")
            raise Problem(409, "no refill is left")
        found["refills"] += 1
        return Answer(found)

    @service.route(
        "POST /invoices",
        {201: "Invoice", 409: "Error"},
        headers={"Idempotency-Key": {"type": "string", "minLength": 4, "maxLength": 40}},
        body={**_OBJECT, "properties": {"appointment_id": _ID}, "required": ["appointment_id"]},
    )
    def bill(ask: Ask) -> Answer:
        appointment = appointments.get(ask.body["appointment_id"])
        if appointment is None:
            raise Problem(409, "unknown appointment_id")
        if appointment["status"] == "booked":
            service.crash("invoice-before-finish")
        must_be(appointment, "finished")
        key = ask.headers.get("Idempotency-Key")
        if key is not None and key in keys:
            if keys[key] == appointment["id"] and not service.bug("invoice-key-reused"):
                return Answer(next(one for one in invoices.values() if one["appointment_id"] == appointment["id"]), 201)
        elif any(one["appointment_id"] == appointment["id"] for one in invoices.values()):
            service.crash("second-invoice")
            raise Problem(409, "the appointment is billed")
        number = next(numbers)
        made = {
            "id": f"in{number}",
            "appointment_id": appointment["id"],
            "payment_token": f"tok-{number * 7919 % 100_003:05d}",
            "is_paid": False,
        }
        invoices[made["id"]] = made
        if key is not None:
            keys[key] = appointment["id"]
        return Answer(made, 201, (("Location", f"/invoices/{made['id']}"),))

    @service.route("GET /invoices/{invoice_id}", {200: "Invoice"})
    def get_invoice(ask: Ask) -> Answer:
        return Answer(get(invoices, ask.path["invoice_id"], "invoice"))

    @service.route(
        "POST /invoices/{invoice_id}/payment",
        {200: "Invoice", 409: "Error"},
        headers={
            "X-Payment-Token": {"type": "string", "required": True, "description": "`payment_token` of the invoice"}
        },
    )
    def pay(ask: Ask) -> Answer:
        invoice = get(invoices, ask.path["invoice_id"], "invoice")
        if ask.headers.get("X-Payment-Token") != invoice["payment_token"]:
            raise Problem(409, "wrong X-Payment-Token")
        if invoice["is_paid"]:
            service.crash("paid-twice-with-token")
            raise Problem(409, "the invoice is paid")
        invoice["is_paid"] = True
        return Answer(invoice)

    return service
