import { vi } from 'vitest'

/** How long a test waits for what must come in the end. A test of a promised time names its own. */
const PATIENCE = { timeout: 60_000, interval: 50 } as const

// Vitest gives up after a second, which a busy machine exceeds; `expect.poll` has its default in vitest.config.ts.
const { waitFor } = vi
const patientWaitFor: typeof waitFor = (callback, options) => waitFor(callback, options ?? PATIENCE)
// Files of one process share `vi`, and each runs this.
if (waitFor.name !== patientWaitFor.name) vi.waitFor = patientWaitFor
