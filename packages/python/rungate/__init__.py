"""The client of Rungate: one API and one prepaid wallet for data and outreach providers."""

from ._errors import ErrorDetail, RungateError
from ._events import Event
from ._pages import Page, Pages
from ._version import __version__
from .api import Rungate, connect

__all__ = ["ErrorDetail", "Event", "Page", "Pages", "Rungate", "RungateError", "__version__", "connect"]
