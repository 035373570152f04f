"""Parcels on their way from one depot to the next."""

from parcels.route import Route, shortest
from parcels.tracking import Parcel, track

__all__ = ["Parcel", "Route", "shortest", "track"]
