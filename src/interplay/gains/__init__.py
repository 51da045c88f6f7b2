"""Which gain has each variable, at most? One question, one call.

::

    call.py   `max_information_gain`: arguments → search → MaxGains
"""
