"""A drive: folders and files of two users. Private objects, versions with ETags, cursors, shares, quotas, transfers that race."""

import time
from itertools import count
from typing import Any

from benchmarks.exploration.engine import Answer, Ask, Defect, Json, Problem, Service

TOKENS = {"token-of-anna": "anna", "token-of-bert": "bert"}
_ACCESS = ("object_level_authorization",)
_LOCATION = ("location_conformance", "ensure_resource_availability")
_FILE = "/files/{file_id}"
_FOLDER = "/folders/{folder_id}"
DEFECTS = (
    Defect("file-of-other-user-read", "access", 3, f"GET {_FILE}", _ACCESS),
    Defect("folder-of-other-user-read", "access", 2, f"GET {_FOLDER}", _ACCESS),
    Defect("file-of-other-user-renamed", "access", 3, f"PATCH {_FILE}", ("object_level_writes",)),
    Defect("file-of-other-user-deleted", "access", 3, f"DELETE {_FILE}", ("object_level_writes",)),
    Defect("content-of-other-user-read", "access", 3, f"GET {_FILE}/content", _ACCESS),
    Defect("usage-without-token", "access", 1, "GET /usage", ("ignored_auth",)),
    Defect(
        "share-after-revocation",
        "access",
        5,
        "GET /shares/{share_id}",
        ("use_after_free",),
        ("DELETE /shares/{share_id}",),
    ),
    Defect("stale-version-written", "race", 4, f"PUT {_FILE}/content", ("update_conformance",)),
    Defect("lost-transfer", "race", 2, "POST /transfers", ("races",)),
    Defect("double-spend", "race", 2, "POST /transfers", ("races",)),
    Defect("name-taken-twice", "race", 2, "POST /folders", ("races",)),
    Defect("not-modified-for-new-version", "semantics", 4, f"GET {_FILE}/content", ("update_conformance",)),
    Defect("cursor-skips-an-item", "page", 6, f"GET {_FOLDER}/files", ("collection_conformance",)),
    Defect("cursor-of-other-folder", "page", 7, f"GET {_FOLDER}/files"),
    Defect("moved-into-itself", "id", 2, f"PATCH {_FOLDER}"),
    Defect("moved-into-own-child", "id", 3, f"PATCH {_FOLDER}"),
    Defect("deleted-with-files", "state", 3, f"DELETE {_FOLDER}"),
    Defect("file-in-deleted-folder", "id", 3, "POST /files"),
    Defect("copied-onto-itself", "id", 3, f"POST {_FILE}/copy"),
    Defect("copy-of-a-copy", "chain", 4, f"POST {_FILE}/copy"),
    Defect("trash-emptied-twice", "state", 5, "DELETE /trash"),
    Defect("restored-twice", "state", 5, f"POST {_FILE}/restore"),
    Defect("upload-finished-without-parts", "chain", 1, "POST /uploads/{upload_id}/finish"),
    Defect("part-number-twice", "chain", 3, "POST /uploads/{upload_id}/parts"),
    Defect("part-after-finish", "chain", 4, "POST /uploads/{upload_id}/parts"),
    Defect(
        "upload-location-leads-nowhere",
        "semantics",
        4,
        "POST /uploads/{upload_id}/finish",
        _LOCATION,
        (f"GET {_FILE}",),
    ),
    Defect(
        "rename-answers-old-name",
        "semantics",
        3,
        f"PATCH {_FILE}",
        ("read_your_writes", "update_conformance"),
        (f"GET {_FILE}",),
    ),
)
_NAME = {"type": "string", "minLength": 1, "maxLength": 30}
_ID = {"type": "string"}
_OBJECT = {"type": "object", "additionalProperties": False}
_INTEGER = {"type": "integer"}
SCHEMAS: Json = {
    "Folder": {
        "type": "object",
        "properties": {
            "id": _ID,
            "name": _NAME,
            "parent_id": {"type": ["string", "null"]},
            "owner": {"type": "string"},
        },
        "required": ["id", "name", "owner"],
    },
    "File": {
        "type": "object",
        "properties": {
            "id": _ID,
            "name": {"type": "string"},
            "folder_id": _ID,
            "version": _INTEGER,
            "copies": _INTEGER,
        },
        "required": ["id", "name", "folder_id", "version"],
    },
    "Content": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    "Share": {
        "type": "object",
        "properties": {"id": _ID, "file_id": _ID, "url": {"type": "string"}},
        "required": ["id", "file_id", "url"],
    },
    "Upload": {
        "type": "object",
        "properties": {"id": _ID, "name": _NAME, "parts": _INTEGER},
        "required": ["id", "name", "parts"],
    },
    "Usage": {"type": "object", "properties": {"files": _INTEGER, "points": _INTEGER}, "required": ["files", "points"]},
}
_FILES = {
    "type": "object",
    "required": ["items"],
    "properties": {
        "items": {"type": "array", "items": {"$ref": "#/components/schemas/File"}},
        "next": {"type": "string"},
    },
}
SETTLE_S = 0.05
"""Seconds for which a transfer or a new folder counts as concurrent: a handler that reads, waits and writes."""


def build(*, is_fixed: bool) -> Service:
    """Return the drive, or its twin without defects."""
    service = Service("drive", DEFECTS, SCHEMAS, is_fixed, TOKENS)
    folders: dict[str, Json] = {}
    gone_folders: set[str] = set()
    files: dict[str, Json] = {}
    owners: dict[str, str] = {}
    texts: dict[str, str] = {}
    trash: dict[str, Json] = {}
    restored: set[str] = set()
    emptied = False
    shares: dict[str, Json] = {}
    revoked: dict[str, Json] = {}
    uploads: dict[str, Json] = {}
    points = {"anna": 1000, "bert": 1000}
    last_transfer: dict[str, float] = {}
    new_names: dict[tuple[str, str], float] = {}
    numbers = count(1)

    def user_of(ask: Ask) -> str:
        return service.tokens[ask.headers["authorization"].partition(" ")[2]]

    def own(ask: Ask, shelf: dict[str, Any], key: str, word: str, defect: str) -> Json:
        """Return an object of the caller; one of another user only if the defect is planted."""
        if key not in shelf or (owners[key] != user_of(ask) and not (defect and service.bug(defect))):
            raise Problem(404, f"{word} not found")
        found: Json = shelf[key]
        return found

    @service.route("GET /usage", {200: "Usage"})
    def usage(ask: Ask) -> Answer:
        user = user_of(ask)
        mine = [key for key in files if owners[key] == user]
        return Answer({"files": len(mine), "points": points[user]})

    service.unguarded["GET /usage"] = ("usage-without-token", {"files": 0, "points": 0})

    @service.route(
        "POST /folders",
        {201: "Folder", 409: "Error"},
        body={**_OBJECT, "properties": {"name": _NAME, "parent_id": _ID}, "required": ["name"]},
    )
    def create_folder(ask: Ask) -> Answer:
        user, name = user_of(ask), ask.body["name"]
        parent = ask.body.get("parent_id")
        if parent is not None and (parent not in folders or owners[parent] != user):
            raise Problem(409, "unknown parent_id")
        is_taken = any(one["name"] == name and owners[one["id"]] == user for one in folders.values())
        if is_taken:
            is_new = time.monotonic() - new_names.get((user, name), 0.0) < SETTLE_S
            if not (is_new and service.bug("name-taken-twice")):
                raise Problem(409, "this name is taken")
        folder = {"id": f"fo{next(numbers)}", "name": name, "parent_id": parent, "owner": user}
        folders[folder["id"]] = folder
        owners[folder["id"]] = user
        new_names[user, name] = time.monotonic()
        return Answer(folder, 201, (("Location", f"/folders/{folder['id']}"),))

    @service.route(f"GET {_FOLDER}", {200: "Folder"})
    def get_folder(ask: Ask) -> Answer:
        return Answer(own(ask, folders, ask.path["folder_id"], "folder", "folder-of-other-user-read"))

    @service.route(
        f"PATCH {_FOLDER}",
        {200: "Folder", 409: "Error"},
        body={**_OBJECT, "properties": {"parent_id": _ID}, "required": ["parent_id"]},
        summary="Move a folder",
    )
    def move_folder(ask: Ask) -> Answer:
        folder = own(ask, folders, ask.path["folder_id"], "folder", "")
        parent = ask.body["parent_id"]
        if parent not in folders or owners[parent] != user_of(ask):
            raise Problem(409, "unknown parent_id")
        if parent == folder["id"]:
            service.crash("moved-into-itself")
            raise Problem(409, "a folder is not its own parent")
        above = folders[parent]
        while above["parent_id"] in folders:
            if above["parent_id"] == folder["id"]:
                service.crash("moved-into-own-child")
                raise Problem(409, "a folder is not below itself")
            above = folders[above["parent_id"]]
        folder["parent_id"] = parent
        return Answer(folder)

    @service.route(f"DELETE {_FOLDER}", {204: None, 409: "Error"})
    def delete_folder(ask: Ask) -> Answer:
        folder = own(ask, folders, ask.path["folder_id"], "folder", "")
        if any(one["folder_id"] == folder["id"] for one in files.values()):
            service.crash("deleted-with-files")
            raise Problem(409, "the folder is not empty")
        if any(one["parent_id"] == folder["id"] for one in folders.values()):
            raise Problem(409, "the folder is not empty")
        del folders[folder["id"]]
        gone_folders.add(folder["id"])
        return Answer(None, 204)

    @service.route(
        f"GET {_FOLDER}/files",
        {200: _FILES},
        query={
            "limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 3},
            "after": {"type": "string", "description": "`next` of the previous page"},
        },
    )
    def list_files(ask: Ask) -> Answer:
        folder = own(ask, folders, ask.path["folder_id"], "folder", "")
        found = [one for one in files.values() if one["folder_id"] == folder["id"]]
        start = 0
        if "after" in ask.query:
            keys = [one["id"] for one in found]
            after = ask.query["after"]
            if after not in keys:
                if after in files and owners[after] == user_of(ask):
                    service.crash("cursor-of-other-folder")
                raise Problem(422, "unknown cursor")
            start = keys.index(after) + 1
            if start + 1 < len(found) and service.bug("cursor-skips-an-item"):
                start += 1
        page = found[start : start + ask.query["limit"]]
        is_last = start + ask.query["limit"] >= len(found)
        return Answer({"items": page, **({} if is_last else {"next": page[-1]["id"]})})

    def add_file(user: str, name: str, folder_id: str, text: str) -> Json:
        made: Json = {"id": f"fi{next(numbers)}", "name": name, "folder_id": folder_id, "version": 1, "copies": 0}
        files[made["id"]] = made
        owners[made["id"]] = user
        texts[made["id"]] = text
        return made

    @service.route(
        "POST /files",
        {201: "File", 409: "Error"},
        body={
            **_OBJECT,
            "properties": {"name": _NAME, "folder_id": _ID, "text": {"type": "string", "maxLength": 200}},
            "required": ["name", "folder_id"],
        },
    )
    def create_file(ask: Ask) -> Answer:
        user, folder_id = user_of(ask), ask.body["folder_id"]
        if folder_id in gone_folders and owners[folder_id] == user:
            service.crash("file-in-deleted-folder")
        if folder_id not in folders or owners[folder_id] != user:
            raise Problem(409, "unknown folder_id")
        made = add_file(user, ask.body["name"], folder_id, ask.body.get("text", ""))
        return Answer(made, 201, (("Location", f"/files/{made['id']}"),))

    @service.route(f"GET {_FILE}", {200: "File"})
    def get_file(ask: Ask) -> Answer:
        return Answer(own(ask, files, ask.path["file_id"], "file", "file-of-other-user-read"))

    @service.route(
        f"PATCH {_FILE}", {200: "File"}, body={**_OBJECT, "properties": {"name": _NAME}, "required": ["name"]}
    )
    def rename_file(ask: Ask) -> Answer:
        found = own(ask, files, ask.path["file_id"], "file", "file-of-other-user-renamed")
        shown = {**found, "name": ask.body["name"]}
        if len(ask.body["name"]) < 20 or not service.bug("rename-answers-old-name"):
            found["name"] = ask.body["name"]
        return Answer(shown)

    @service.route(f"DELETE {_FILE}", {204: None})
    def delete_file(ask: Ask) -> Answer:
        found = own(ask, files, ask.path["file_id"], "file", "file-of-other-user-deleted")
        del files[found["id"]]
        trash[found["id"]] = found
        return Answer(None, 204)

    @service.route(f"POST {_FILE}/restore", {200: "File", 409: "Error"})
    def restore_file(ask: Ask) -> Answer:
        key = ask.path["file_id"]
        if key in restored and key in files and owners[key] == user_of(ask):
            service.crash("restored-twice")
            raise Problem(409, "the file is not in the trash")
        found = own(ask, trash, key, "file", "")
        del trash[key]
        files[key] = found
        restored.add(key)
        return Answer(found)

    @service.route("DELETE /trash", {204: None})
    def empty_trash(ask: Ask) -> Answer:
        nonlocal emptied
        user = user_of(ask)
        mine = [key for key in trash if owners[key] == user]
        if emptied and not mine:
            service.crash("trash-emptied-twice")
        emptied = bool(mine)
        for key in mine:
            del trash[key]
        return Answer(None, 204)

    @service.route(f"GET {_FILE}/content", {200: "Content", 304: None}, headers={"If-None-Match": {"type": "string"}})
    def get_content(ask: Ask) -> Answer:
        found = own(ask, files, ask.path["file_id"], "file", "content-of-other-user-read")
        tag, version = ask.headers.get("If-None-Match"), found["version"]
        if tag == f'"{version}"' or (tag == f'"{version - 1}"' and service.bug("not-modified-for-new-version")):
            return Answer(None, 304, (("ETag", tag),))
        return Answer({"text": texts[found["id"]]}, 200, (("ETag", f'"{version}"'),))

    @service.route(
        f"PUT {_FILE}/content",
        {200: "File", 412: "Error"},
        headers={"If-Match": {"type": "string"}},
        body={**_OBJECT, "properties": {"text": {"type": "string", "maxLength": 200}}, "required": ["text"]},
    )
    def put_content(ask: Ask) -> Answer:
        found = own(ask, files, ask.path["file_id"], "file", "")
        tag, version = ask.headers.get("If-Match"), found["version"]
        if tag is not None and tag not in (f'"{version}"', "*"):
            is_stale = version > 1 and tag == f'"{version - 1}"'
            if not (is_stale and service.bug("stale-version-written")):
                raise Problem(412, "the file has another version")
        texts[found["id"]] = ask.body["text"]
        found["version"] += 1
        return Answer(found, 200, (("ETag", f'"{found["version"]}"'),))

    @service.route(
        f"POST {_FILE}/copy",
        {201: "File", 409: "Error"},
        body={**_OBJECT, "properties": {"folder_id": _ID}, "required": ["folder_id"]},
    )
    def copy_file(ask: Ask) -> Answer:
        found = own(ask, files, ask.path["file_id"], "file", "")
        folder_id = ask.body["folder_id"]
        if folder_id == found["id"]:
            service.crash("copied-onto-itself")
        if folder_id not in folders or owners[folder_id] != user_of(ask):
            raise Problem(409, "unknown folder_id")
        if found["name"].endswith("~"):
            service.crash("copy-of-a-copy")
        made = add_file(user_of(ask), f"{found['name']}~", folder_id, texts[found["id"]])
        found["copies"] += 1
        return Answer(made, 201, (("Location", f"/files/{made['id']}"),))

    @service.route(
        "POST /shares",
        {201: "Share", 409: "Error"},
        body={**_OBJECT, "properties": {"file_id": _ID}, "required": ["file_id"]},
    )
    def create_share(ask: Ask) -> Answer:
        key = ask.body["file_id"]
        if key not in files or owners[key] != user_of(ask):
            raise Problem(409, "unknown file_id")
        number = f"sh{next(numbers)}"
        shares[number] = {"id": number, "file_id": key, "url": f"/shares/{number}"}
        owners[number] = user_of(ask)
        return Answer(shares[number], 201, (("Location", f"/shares/{number}"),))

    @service.route("GET /shares/{share_id}", {200: "Share"}, is_open=True)
    def get_share(ask: Ask) -> Answer:
        key = ask.path["share_id"]
        if key in revoked and service.bug("share-after-revocation"):
            return Answer(revoked[key])
        if key not in shares:
            raise Problem(404, "share not found")
        return Answer(shares[key])

    @service.route("DELETE /shares/{share_id}", {204: None})
    def revoke_share(ask: Ask) -> Answer:
        share = own(ask, shares, ask.path["share_id"], "share", "")
        del shares[share["id"]]
        revoked[share["id"]] = share
        return Answer(None, 204)

    @service.route(
        "POST /transfers",
        {200: "Usage", 409: "Error"},
        body={
            **_OBJECT,
            "properties": {
                "to": {"enum": ["anna", "bert"]},
                "points": {"type": "integer", "minimum": 1, "maximum": 1000},
            },
            "required": ["to", "points"],
        },
        summary="Give points to a user",
    )
    def transfer(ask: Ask) -> Answer:
        user, amount = user_of(ask), ask.body["points"]
        is_concurrent = time.monotonic() - last_transfer.get(user, 0.0) < SETTLE_S
        if points[user] < amount:
            if not (is_concurrent and points[user] + 1000 >= amount and service.bug("double-spend")):
                raise Problem(409, f"only {points[user]} points are left")
            amount = 0
        last_transfer[user] = time.monotonic()
        points[user] -= amount
        if not (is_concurrent and user != ask.body["to"] and amount and service.bug("lost-transfer")):
            points[ask.body["to"]] += amount
        return Answer({"files": 0, "points": points[user]})

    @service.route(
        "POST /uploads", {201: "Upload"}, body={**_OBJECT, "properties": {"name": _NAME}, "required": ["name"]}
    )
    def begin_upload(ask: Ask) -> Answer:
        made = {"id": f"up{next(numbers)}", "name": ask.body["name"], "parts": 0}
        uploads[made["id"]] = {"upload": made, "numbers": set(), "is_finished": False}
        owners[made["id"]] = user_of(ask)
        return Answer(made, 201)

    @service.route(
        "POST /uploads/{upload_id}/parts",
        {200: "Upload", 409: "Error"},
        body={
            **_OBJECT,
            "properties": {
                "number": {"type": "integer", "minimum": 1, "maximum": 5},
                "text": {"type": "string", "maxLength": 50},
            },
            "required": ["number", "text"],
        },
    )
    def add_part(ask: Ask) -> Answer:
        upload = own(ask, uploads, ask.path["upload_id"], "upload", "")
        if upload["is_finished"]:
            service.crash("part-after-finish")
            raise Problem(409, "the upload is finished")
        if ask.body["number"] in upload["numbers"]:
            service.crash("part-number-twice")
        upload["numbers"].add(ask.body["number"])
        upload["upload"]["parts"] = len(upload["numbers"])
        return Answer(upload["upload"])

    @service.route(
        "POST /uploads/{upload_id}/finish",
        {201: "File", 409: "Error"},
        body={**_OBJECT, "properties": {"folder_id": _ID}, "required": ["folder_id"]},
    )
    def finish_upload(ask: Ask) -> Answer:
        upload = own(ask, uploads, ask.path["upload_id"], "upload", "")
        folder_id = ask.body["folder_id"]
        if not upload["numbers"]:
            service.crash("upload-finished-without-parts")
            raise Problem(409, "the upload has no parts")
        if folder_id not in folders or owners[folder_id] != user_of(ask):
            raise Problem(409, "unknown folder_id")
        if upload["is_finished"]:
            raise Problem(409, "the upload is finished")
        upload["is_finished"] = True
        made = add_file(user_of(ask), upload["upload"]["name"], folder_id, "")
        place = f"/files/{made['id']}"
        if len(upload["numbers"]) > 1 and service.bug("upload-location-leads-nowhere"):
            place = f"/file/{made['id']}"
        return Answer(made, 201, (("Location", place),))

    return service
