"""Functions with conditions on values. pytest would rewrite their assertions in a file of tests."""


def asserts(x):
    assert (x > 0).all(), "x is {not} positive"
    return (x * 2).sum()


def raises(x):
    if not (x > 0).all():
        raise ValueError(f"of {len(x)}")
    return (x * 2).sum()


def raises_twice(x):
    if (x > 9).any():
        raise ValueError("too large")
    elif (x < 0).any():
        raise ValueError("negative")
    return (x * 2).sum()


def other_way(x):
    return -x if (x < 0).any() else x


def both(x):
    if (x < 0).any() and (x > 0).any():
        raise ValueError("mixed")
    return x


def within(x):
    if any([(x < 0).any()]):
        raise ValueError("negative")
    return x


def caught(x):
    try:
        if (x < 0).any():
            raise ValueError("negative")
    except ValueError:
        return -x
    return x
