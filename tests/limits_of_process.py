"""A pytest plugin that ends pytest after BENCHC_TEST_SECONDS of the processor, or three times as many in all.

Its memory is limited, too: a mutant may not end.
"""

import os
import resource
import signal

resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))
seconds = int(os.environ["BENCHC_TEST_SECONDS"])
signal.setitimer(signal.ITIMER_PROF, seconds)
signal.alarm(3 * seconds)
