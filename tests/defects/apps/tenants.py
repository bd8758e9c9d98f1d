"""Tenants, their projects, and members of those (Flask)."""

from typing import Any

from tests.defects.book import Asked
from tests.defects.service import Answer, Problem, Service, maybe
from tests.defects.shelf import Find, Shelf, removes, shows
from tests.defects.words import NUMBERED, SLUG, STRING, Defect, answers, body, described, parameter, ref, said, thing

FRAMEWORK = "flask"
_TENANT = parameter("path", "tenant_id", NUMBERED)
_PROJECT = parameter("path", "project_id", NUMBERED)
_MEMBER = parameter("path", "member_id", NUMBERED)
_ROLE = {"type": "string", "enum": ["reader", "writer", "owner"]}
_TENANTS, _PROJECTS = "/tenants", "/tenants/{tenant_id}/projects"
_MEMBERS = "/tenants/{tenant_id}/projects/{project_id}/members"
DOCUMENT = described(
    "tenants",
    {
        _TENANTS: {
            "post": {
                "parameters": [
                    parameter("header", "X-Region", {"type": "string", "enum": ["north", "south"]}, required=True)
                ],
                "requestBody": body(thing("name", name=SLUG)),
                "responses": answers({201: said(ref("Tenant"))}, 400, 415, 422),
            }
        },
        "/tenants/{tenant_id}": {
            "parameters": [_TENANT],
            "get": {"responses": answers({200: said(ref("Tenant"))}, 400, 404)},
        },
        _PROJECTS: {
            "parameters": [_TENANT],
            "post": {
                "requestBody": body(thing("name", name=SLUG)),
                "responses": answers({201: said(ref("Project"))}, 400, 404, 415, 422),
            },
        },
        _PROJECTS + "/{project_id}": {
            "parameters": [_TENANT, _PROJECT],
            "get": {"responses": answers({200: said(ref("Project"))}, 400, 404)},
            "delete": {"responses": answers({204: said()}, 400, 404)},
        },
        _MEMBERS: {
            "parameters": [_TENANT, _PROJECT],
            "get": {"responses": answers({200: said({"type": "array", "items": ref("Member")})}, 400, 404)},
            "post": {
                "requestBody": body(thing("name role", name=SLUG, role=_ROLE)),
                "responses": answers({201: said(ref("Member"))}, 400, 404, 415, 422, 500),
            },
        },
        _MEMBERS + "/{member_id}": {
            "parameters": [_TENANT, _PROJECT, _MEMBER],
            "get": {"responses": answers({200: said(ref("Member"))}, 400, 404)},
            "delete": {"responses": answers({204: said()}, 400, 404)},
        },
    },
    components={
        "schemas": {
            "Tenant": thing("id name", id=NUMBERED, name=STRING),
            "Project": thing("id tenant name", id=NUMBERED, tenant=NUMBERED, name=STRING),
            "Member": thing("id project name role", id=NUMBERED, project=NUMBERED, name=STRING, role=_ROLE),
        }
    },
)
DEFECTS = (
    Defect("region-optional", "POST /tenants", "missing_required_header"),
    Defect("project-lost", f"POST {_PROJECTS}", "ensure_resource_availability", steps=3),
    Defect("project-stays", f"DELETE {_PROJECTS}/{{project_id}}", "use_after_free", steps=4),
    Defect("owner-crash", f"POST {_MEMBERS}", "not_a_server_error", steps=3),
    Defect("role-unchecked", f"POST {_MEMBERS}", "negative_data_rejection", steps=3),
    Defect("role-hidden", f"GET {_MEMBERS}", "response_schema_conformance", steps=4),
    Defect("member-stays", f"DELETE {_MEMBERS}/{{member_id}}", "use_after_free", steps=5),
    Defect("member-gone", f"DELETE {_MEMBERS}/{{member_id}}", "status_code_conformance", steps=4),
)


def build(on: frozenset[str]) -> Service:
    """The service with these defects."""
    service, tenants, projects, members = Service(DOCUMENT), Shelf(), Shelf(), Shelf()

    def project_of(asked: Asked) -> dict[str, Any]:
        tenant, project = (tenants.get(asked.path["tenant_id"]), projects.get(asked.path["project_id"]))
        if project["tenant"] != tenant["id"]:
            raise Problem(404, "of another tenant")
        return project

    @service.operation("POST /tenants", lenient=maybe("region-optional" in on, "header X-Region"))
    def opened(asked: Asked) -> Answer:
        if asked.headers.get("x-region", "north") not in ("north", "south"):
            raise Problem(400, "region")
        return Answer(tenants.add({"name": asked.json["name"]}), 201)

    service.operation("GET /tenants/{tenant_id}")(shows(tenants.at("tenant_id")))

    @service.operation(f"POST {_PROJECTS}")
    def project_added(asked: Asked) -> Answer:
        tenant, name = tenants.get(asked.path["tenant_id"]), asked.json["name"]
        project = projects.add({"tenant": tenant["id"], "name": name})
        if "project-lost" in on and len(name) == 1:
            projects.remove(str(project["id"]))
        return Answer(project, 201)

    service.operation(f"GET {_PROJECTS}/{{project_id}}")(shows(project_of))
    service.operation(f"DELETE {_PROJECTS}/{{project_id}}")(removes(project_of, projects, stays="project-stays" in on))
    _members(service, project_of, members, on)
    return service


def _members(service: Service, project_of: Find, members: Shelf, on: frozenset[str]) -> None:
    def member_of(asked: Asked) -> dict[str, Any]:
        project, member = project_of(asked), members.get(asked.path["member_id"])
        if member["project"] != project["id"]:
            raise Problem(404, "of another project")
        return member

    @service.operation(f"GET {_MEMBERS}")
    def members_of(asked: Asked) -> Answer:
        project = project_of(asked)
        found = [one for one in members.last(100) if one["project"] == project["id"]]
        if "role-hidden" in on:
            found = [{key: value for key, value in one.items() if key != "role"} for one in found]
        return Answer(found)

    @service.operation(f"POST {_MEMBERS}", lenient=maybe("role-unchecked" in on, "body role"))
    def member_added(asked: Asked) -> Answer:
        project, given = project_of(asked), asked.json
        role = given.get("role")
        if "owner-crash" in on and role == "owner":
            return Answer({"detail": "two owners"}, 500)
        role = role if role in ("reader", "writer", "owner") else "reader"
        return Answer(members.add({"project": project["id"], "name": given["name"], "role": role}), 201)

    service.operation(f"GET {_MEMBERS}/{{member_id}}")(shows(member_of))

    @service.operation(f"DELETE {_MEMBERS}/{{member_id}}")
    def member_removed(asked: Asked) -> Answer:
        member = member_of(asked)
        if "member-stays" not in on:
            members.remove(str(member["id"]))
        return Answer(status=202 if "member-gone" in on and member["role"] == "writer" else 204)
