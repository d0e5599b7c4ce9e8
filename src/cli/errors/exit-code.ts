/** What the process says with its exit status; scripts may rely on it. */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  signedOut: 4,
  denied: 5,
  conflict: 6,
  limited: 7,
  unavailable: 8,
  invalid: 9,
  negative: 10,
  interrupted: 130,
  terminated: 143,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** One line per code, as `ctl help exit-codes` prints them. */
export const EXIT_MEANINGS: readonly { readonly code: ExitCode; readonly meaning: string }[] = [
  { code: EXIT.ok, meaning: 'done' },
  { code: EXIT.failed, meaning: 'failed, or the server failed (5xx)' },
  { code: EXIT.usage, meaning: 'the command line is wrong: unknown command or flag, missing or ambiguous argument' },
  { code: EXIT.notFound, meaning: 'not found' },
  { code: EXIT.signedOut, meaning: 'not signed in, or the credential has expired' },
  { code: EXIT.denied, meaning: 'permission denied' },
  { code: EXIT.conflict, meaning: 'conflict: taken, stale, or not possible in this state' },
  { code: EXIT.limited, meaning: 'a rate or capacity limit' },
  { code: EXIT.unavailable, meaning: 'unavailable: no connection, timeout, or a dependency of the server is down' },
  { code: EXIT.invalid, meaning: 'the server refused the input as invalid' },
  {
    code: EXIT.negative,
    meaning: 'a negative answer: check denied, wait unmet, doctor found problems, a difference was found',
  },
  { code: EXIT.interrupted, meaning: 'interrupted' },
  { code: EXIT.terminated, meaning: 'interrupted by SIGTERM' },
]

const BY_STATUS: Readonly<Record<number, ExitCode>> = {
  401: EXIT.signedOut,
  403: EXIT.denied,
  404: EXIT.notFound,
  408: EXIT.unavailable,
  409: EXIT.conflict,
  412: EXIT.conflict,
  429: EXIT.limited,
  502: EXIT.unavailable,
  503: EXIT.unavailable,
  504: EXIT.unavailable,
}

/** Distinguishes the two interruptions: SIGTERM has the exit code of a shell, 143 (128 + 15). */
export function exitCodeAfter(code: ExitCode, isTerminated: boolean | undefined): ExitCode {
  return code === EXIT.interrupted && isTerminated === true ? EXIT.terminated : code
}

/** The exit code of an HTTP status of 400 or more. */
export function exitCodeOf(status: number): ExitCode {
  return BY_STATUS[status] ?? (status >= 500 ? EXIT.failed : EXIT.invalid)
}
