import numpy as np
import pytest
from scipy.stats import chisquare, norm

from benchc.corruptions import fields
from benchc.corruptions.fields import draw_bits16, draw_bits32, normal_quantiles, uniform_of


def generator(seed=1):
    return np.random.Generator(np.random.SFC64(seed))


@pytest.mark.parametrize(("draw", "dtype"), [(draw_bits16, np.uint16), (draw_bits32, np.uint32)])
@pytest.mark.parametrize("shape", [(1,), (3, 1), (5, 7, 3), (33, 50, 3)])
def test_bits_have_any_shape_and_follow_the_seed(draw, dtype, shape):
    bits = draw(generator(), *shape)
    assert (bits.dtype, bits.shape) == (dtype, shape)
    assert np.array_equal(bits, draw(generator(), *shape))
    assert not np.array_equal(bits, draw(generator(2), *shape))


def test_a_word_of_zeros_is_a_word_like_any_other():
    zeros = generator()
    state = zeros.bit_generator.state
    state["state"]["state"][:] = 0  # the next word is 0
    zeros.bit_generator.state = state
    assert draw_bits16(zeros, 4).tolist() == [0] * 4


@pytest.mark.parametrize(("draw", "per_step"), [(draw_bits16, 4), (draw_bits32, 2)])
@pytest.mark.parametrize("count", [1, 4, 7])
def test_bits_are_those_of_as_few_steps_of_the_generator_as_give_them(draw, per_step, count):
    used, stepped = generator(), generator()
    bits = draw(used, count)
    words = stepped.bit_generator.random_raw(-(-count // per_step))
    assert np.array_equal(bits, words.view(bits.dtype)[:count])
    assert used.random() == stepped.random()


@pytest.mark.parametrize(("draw", "width"), [(draw_bits16, 16), (draw_bits32, 32)])
def test_bits_are_uniform_and_independent_of_their_neighbours(draw, width):
    bits = draw(generator(), 1 << 18).astype(np.int64)
    upper, lower = bits >> (width - 8), bits & 255
    for cells in (upper, lower, (upper[:-1] >> 4) * 16 + (upper[1:] >> 4)):
        assert chisquare(np.bincount(cells, minlength=256)).pvalue > 1e-3


def test_normal_quantiles_are_a_standard_normal_distribution():
    quantiles = normal_quantiles()
    assert quantiles.dtype == np.float32
    assert (np.diff(quantiles) > 0).all()
    np.testing.assert_array_equal(quantiles, -quantiles[::-1])
    np.testing.assert_allclose(norm.cdf(quantiles) * 65536, np.arange(65536) + 0.5, atol=0.01)
    assert quantiles.std() == pytest.approx(1, abs=1e-4)
    with pytest.raises(ValueError, match="read-only"):
        quantiles[0] = 0


def test_floats_are_those_of_their_bits():
    bits = draw_bits16(generator(), 33, 50)
    np.testing.assert_array_equal(fields.draw_normal_field(generator(), 33, 50), normal_quantiles()[bits])
    np.testing.assert_array_equal(fields.normal_of(bits[::2, ::3]), normal_quantiles()[bits[::2, ::3]])
    uniform = uniform_of(bits)
    assert uniform.dtype == np.float32
    np.testing.assert_array_equal(uniform, (bits + 0.5) / 65536)
    ends = uniform_of(np.array([0, 65535], np.uint16))
    assert ends[0] > 0
    assert ends[1] < 1
