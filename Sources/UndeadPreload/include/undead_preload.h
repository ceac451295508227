// The preload library offers nothing to call: it works by being loaded first.
#pragma once
