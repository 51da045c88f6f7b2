"""What is the largest gain of each variable? `max_information_gain`.

::

    call.py   `max_information_gain`: arguments → study → search → MaxGains
"""
