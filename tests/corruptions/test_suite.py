"""A suite that contradicts itself is refused when it is defined."""

import pytest

from benchc.corruptions.suite import CorruptionType, Suite, decided

KERNEL = "a.b"


def fog(name: str = "fog", values: int = 3, *, stand_in: bool = False) -> CorruptionType:
    strength = decided("for this test", *range(values))
    return CorruptionType(name, "Fog.", KERNEL, {"strength": strength}, stand_in=stand_in)


def suite(*types: CorruptionType, group: str = "weather") -> Suite:
    return Suite("mine", "Mine", "no paper", (1, 2, 3), {group: types})


def test_a_type_is_called_by_its_severity() -> None:
    own = suite(fog(), fog("rain_stand_in", stand_in=True))
    assert [each.at(level) for each in own.types() for level in own.severities] == [
        {"strength": number} for number in (0, 1, 2) * 2
    ]


@pytest.mark.parametrize(
    ("types", "group", "message"),
    [
        ([fog("Fog")], "weather", "suite mine: 'Fog' is not in lower case, digits and underscores"),
        ([fog()], "my weather", "'my weather' is not in lower case"),
        ([fog(), fog("rain"), fog()], "weather", "a type is listed twice among fog, rain, fog"),
        (
            [fog("fog_stand_in")],
            "weather",
            "the name of fog_stand_in must end in _stand_in if and only if it",
        ),
        ([fog(stand_in=True)], "weather", "the name of fog must end in _stand_in if and only if it"),
        *(([fog(values=n)], "weather", rf"fog\.strength has {n} values for 3 severities") for n in (2, 4)),
    ],
)
def test_a_suite_that_contradicts_itself_is_refused(
    types: list[CorruptionType], group: str, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        suite(*types, group=group)
