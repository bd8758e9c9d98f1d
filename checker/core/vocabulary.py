"""Words that error texts are made of, whatever the API is about: what is none of them may be an identifier."""

from typing import Final

_ENDINGS: Final = ("ies", "ing", "ed", "es", "ly", "er", "or", "s", "d")
_SHORTEST_STEM: Final = 3
_WORDS: Final = """
abort above accept access account action active actual add address admin after again all alias allocate allow already
ambiguous amount and annotation any api app application are argument arithmetic array ascii assert assertion assign async
attach attempt attribute auth authenticate authorization authorize auto available await axis backend bad balance base be
because been before begin below beyond big bind bit blank block body bool boolean bound broken broker browser bucket
buffer bug build but byte cache call callable callback can cancel cannot capacity case cast category certificate change
channel char character charset check child circular clause class client clone close cluster code codec collation
collection column command commit common compare compile complete complex component compute concurrent condition config
configuration configure conflict connect connection constant constraint consumer contain content context continue control
conversion convert cookie copy core correct corrupt could count coroutine create credential critical cursor cycle data
database date datetime day dead deadlock debug decimal declare decode default define definition delete deny depend
dependency deploy deprecate depth describe deserialize destination detail detect determine device dict dictionary did
different digit dimension directory disable disk dispatch division does domain double down driver duplicate duration during
dynamic each edit element email empty enable encode encoding end endpoint engine enough entity entry enum environment
equal error escape evaluate event exceed except exception execute exist expect expire export express expression extension
extra facility factory fail failure false fatal fault feature fetch field file filter finalize find first fit fix flag
float flow folder for forbid forbidden force foreign form format found frame from full function future gateway general
generate generator get give global gone grant graph greater group guard hand handle handler has hash have header heap
height hex hidden high hint hook host hour html http https identifier identity ignore illegal image immutable implement
import inactive include incomplete incorrect index infinite infinity inherit init initial initialize inner input insert
inside instance instead insufficient int integer integrity interface internal interrupt interval invalid invoke isolation
issue item iterable iterate iterator java job join json key keyword kind language large last layer leaf least left length
less level library like limit line link list listen literal load local locale location lock log login long longer lookup
loop lost low lower machine made main make malformed manager manipulation many map mark mask match matrix max maximum may
media member memory merge message meta method middleware migrate min minimum minus minute mismatch miss missing mode model
modify module month more most move multiple must mutable name namespace nan native negative nested network never new next
nil node non none nor not nothing now null nullable number numeric object occur offset old one only open operand operate
operation operational operator option optional order origin other out outside overflow overlap own owner package page
panic parameter parent parse part partial pass password path pattern payload peer pending per percent perform permission
permit phase place plain please plugin pointer policy pool port position positive possible post precondition prefix
prepare present prevent previous primary primitive print private privilege problem procedure proceed process processor
profile program prohibit project property protect protocol provide provider proxy public publish put query queue quota
quote raise random range rate raw reach read ready real reason receive record recursion redirect reduce reference refuse
regex region register registry reject relation release remain remote remove rename repeat replace replica reply report
repository request require reserve reset resolve resource respond response rest restart restrict result retrieve retry
return reverse revision right role rollback root round route row rule run runtime same save scalar schema scope script
search second secret section secure security seek segment segmentation select self send sequence serial serialize server
service session set setting severe shape share short should shutdown side sign signal signature simple single site size
skip slice slot slow small socket some something soon sort source space special specify split stack stage stale standard
start state statement static statistic status step still stop storage store stream strict string struct structure style sub
subject submit subscript subscribe subscription substring success such suffix supply support suppose surrogate suspend
switch symbol synchronize syntax system table tag take target task template temporary tenant term test text than that the
their them then there this thread throw time timeout timestamp title token too topic total trace transaction transfer
transform transition translate trigger true try tuple type undefined under unexpected unhandled unicode unique unit unknown
unreachable unprocessable until unwrap update upgrade upload upper upstream uri url usage use user utf valid validate
validation validator value variable vector version via view violate violation virtual void wait want warn warning was way
web week were what when where which while white width will window with within without word work worker would wrap write
wrong xml yaml year yet yield you your zero zone
unable unsupported unauthorized unavailable undocumented unbound unreadable unresolved unterminated unused nonexistent
autocommit backtrace checksum classpath deserialization dtype endian errno exc foreignkey getattr hashable inode
iterable kwargs lambda len marshal middleware multipart mutex nonetype nullpointer nullptr oom opcode pickle regexp repr
serialization serializable stacktrace str stderr stdin stdout stdlib subprocess throwable timezone traceback typeerror
unhashable unpack unserializable valueerror
"""
_COMMON: Final = frozenset(_WORDS.split())


def is_common(word: str) -> bool:
    """Whether a word in lower case, or what it is derived from, is one of errors, programs, data bases or networks."""
    if word in _COMMON:
        return True
    for ending in _ENDINGS:
        stem = word.removesuffix(ending)
        if stem is not word and len(stem) >= _SHORTEST_STEM:
            # stopped: stop; parsing: parse; entries: entry.
            stems = (stem, f"{stem}e", f"{stem}y", stem[:-1] if stem[-1] == stem[-2] else stem)
            if any(candidate in _COMMON for candidate in stems):
                return True
    return False
