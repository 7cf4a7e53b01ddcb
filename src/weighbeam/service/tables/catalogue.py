"""All tables by name."""

from collections.abc import Mapping

from weighbeam.service.tables.attacks import COPIES, SUSPECTS
from weighbeam.service.tables.boards import MINERS, STANDINGS, VALIDATORS
from weighbeam.service.tables.model import Table
from weighbeam.service.tables.rounds import ANSWERS, ROUNDS, SCORES
from weighbeam.service.tables.weights import SUBMISSIONS

TABLES: Mapping[str, Table] = {
    one.name: one for one in (ROUNDS, ANSWERS, SCORES, STANDINGS, VALIDATORS, MINERS, SUBMISSIONS, SUSPECTS, COPIES)
}
