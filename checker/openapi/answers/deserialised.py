"""Bodies of responses that deserializers of users read: implements `checker.core.contract.AnswerJudge`."""

from typing import Any

from checker.core.contract import BodyOpinions, UndecodableBody
from checker.core.registry import DeserializationContext, Deserializer
from checker.core.response import Response
from checker.openapi.answers.opinions import TwoOpinions


class DeserialisedBody:
    """Has a user's function read the body, and judges what it gives."""

    __slots__ = ("_deserializer", "_media_type", "_operation", "_opinions")

    def __init__(
        self,
        deserializer: Deserializer,
        opinions: TwoOpinions,
        media_type: str,
        operation: Any,
    ) -> None:
        self._deserializer = deserializer
        self._opinions = opinions
        self._media_type = media_type
        self._operation = operation

    def is_fine(self, response: Response) -> bool:
        """Never at a glance: only the status and the body together say so."""
        return False

    def complaint(self, response: Response) -> None:
        """Nothing: what went wrong is said by the status."""

    def opinions(self, response: Response, case: Any = None) -> BodyOpinions:
        """What both validators say of what the function gives; whatever it raises is told."""
        known = case if case is not None and case.id else None
        try:
            value = self._deserializer(DeserializationContext(self._operation, known), response)
        except Exception as error:  # noqa: BLE001 - the wall: code of users
            told = f"the deserializer raised {type(error).__name__}: {error}"
            return BodyOpinions(undecodable=UndecodableBody(self._media_type, told))
        return self._opinions.on([value])
