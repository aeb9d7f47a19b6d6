import io
from collections import Counter

from PIL import Image

from benchc.benchmarks.naturalbench.curation.captions import samples
from benchc.benchmarks.naturalbench.demo.captioned import captioned_images
from benchc.demo.world import LARGE_SIDE


def test_images_are_drawn_with_the_captions_of_the_encoder() -> None:
    pictures = captioned_images(120, 7)
    assert len(pictures) == 120
    assert {name: picture.image for name, picture in captioned_images(120, 7).items()} == {
        name: picture.image for name, picture in pictures.items()
    }
    assert {picture.image for picture in captioned_images(40, 8).values()}.isdisjoint(
        picture.image for picture in pictures.values()
    )
    # A smaller number has the first of a larger one.
    assert list(captioned_images(30, 7)) == list(pictures)[:30]
    for name, picture in pictures.items():
        assert picture.image is not None and "/" not in name
        with Image.open(io.BytesIO(picture.image)) as image:
            assert max(image.size) < LARGE_SIDE and image.format == name.rpartition(".")[2].upper()
    frame = samples("drawn", pictures, "first", "English", None)
    assert frame.height == 120 and frame["file"].null_count() == 120


def test_many_captions_have_one_question_with_several_answers() -> None:
    captions = [picture.captions[0].text for picture in captioned_images(200, 1).values()]
    assert all(". " in caption and caption.endswith(("?", ".")) for caption in captions)
    answers = Counter(caption.partition(". ")[2] for caption in set(captions))
    assert sum(count for count in answers.values() if count > 1) > 0.9 * sum(answers.values())
