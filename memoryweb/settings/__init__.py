"""All settings, read from the environment (and from `.env`, where there is one).

`.env.example` names every variable an operator may set. Each module here has one subject; the
later ones build on the earlier.
"""

from .environment import *
from .site import *
from .storage import *
from .agents import *
from .people import *
from .sign_in import *
from .application import *
from .operations import *
from .logs import *
