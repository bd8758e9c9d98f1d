"""Cases of one suspicion under other names: a target that takes each name once refuses what it was told before."""

from collections.abc import Callable, Iterable

from msgspec import Struct
from msgspec.structs import replace

from checker.checks.judge import CLEAN
from checker.core.digests import digest
from checker.core.meta import PhaseInfo
from checker.core.sequence import Listed
from checker.phases.attempt import Tools, Verdict, build_request
from checker.phases.making import CaseFactory, GeneratedCase
from checker.workers.recording.unconfirmed import Chain, JudgedCase


class FreshNames(Struct):
    """Makes listed cases again with names that were not sent yet, where they have names of their own."""

    case: str = ""
    """Id of the case that failed first."""
    are_needed: bool = False
    """Whether the failure does not show with the names that were sent before: they are taken."""
    _given: int = 0

    def confirmed(
        self,
        factory: CaseFactory,
        refused: JudgedCase,
        again: Callable[[GeneratedCase, Iterable[JudgedCase]], JudgedCase],
        fails: Callable[[JudgedCase], bool],
    ) -> Chain | None:
        """The case with other names if it failed again so, where it was refused with those of before."""
        made = refused.made
        other = self._anew(factory, made) if 400 <= refused.said_status < 500 else made
        if other is made:
            return None
        shot = again(other, ())
        self.are_needed = fails(shot)
        return (shot,) if self.are_needed else None

    def given(self, factory: CaseFactory, made: GeneratedCase) -> GeneratedCase:
        """The case with other names, where its failure does not show without; else itself."""
        return self._anew(factory, made) if self.are_needed else made

    def unsent(self, factory: CaseFactory, tools: Tools, chain: Chain) -> Chain:
        """The sequence with names that nobody was told yet, where its failure does not show without; else itself.

        Raises `SerializationError`, `HookError`, `CredentialError`.
        """
        last = chain[-1].made
        made = self.given(factory, last)
        if made is last:
            return chain
        request = build_request(tools.maker, tools.hooks, made.case, tools.credentials)
        return (JudgedCase(made, Verdict(made.case, request, None, CLEAN)),)

    def _anew(self, factory: CaseFactory, made: GeneratedCase) -> GeneratedCase:
        recipe = made.other
        if not isinstance(recipe, Listed) or not recipe.token:
            return made
        self._given += 1
        token = digest("fresh", self.case, str(self._given))
        step = replace(made.step, recipe=replace(recipe, token=token))
        return factory.remake(step, name=made.case.id, phase=PhaseInfo(recipe.phase))
