"""Stages of the tests here can start faster."""

from tests.stages import preloaded_stages

__all__ = ["preloaded_stages"]
