/**
 * How the text after a flag is read. `list` takes commas and may come again, `many` only comes again; `optional`: a value
 * only when joined by `=`. Durations are seconds.
 */
export type FlagKind = 'switch' | 'text' | 'integer' | 'number' | 'duration' | 'list' | 'many' | 'optional'

export interface FlagSpec {
  readonly kind: FlagKind
  readonly describe: string
  /** One letter. */
  readonly short?: string
  /** What help calls the value, upper case; derived from the kind when absent. */
  readonly value?: string
  readonly choices?: readonly string[]
  readonly required?: boolean
  /** The noun whose references complete it. */
  readonly noun?: string
  /** Shown in help as what holds when it is absent. */
  readonly fallback?: string
  /** Other ways of setting it, e.g. an environment variable. */
  readonly also?: string
  /** It names a file that holds a secret, so that the secret is never an argument, which other users can read. */
  readonly isSecret?: true
  /** Understood, not listed. */
  readonly hidden?: boolean
}

/** By name without dashes. */
export type FlagSpecs = { readonly [name: string]: FlagSpec }

interface KindValues {
  switch: boolean
  text: string
  integer: number
  number: number
  duration: number
  list: readonly string[]
  many: readonly string[]
  optional: string
}

export type FlagValue = KindValues[FlagKind]

/** The values of the flags that were given. */
export type FlagValues<F extends FlagSpecs = FlagSpecs> = {
  readonly [Name in keyof F]?: KindValues[F[Name]['kind']]
}

export interface ArgumentSpec {
  /** As help shows it, e.g. `node`. */
  readonly name: string
  readonly describe: string
  readonly required?: boolean
  /** Takes all that follow. Only the last one may. */
  readonly many?: boolean
  readonly noun?: string
  readonly choices?: readonly string[]
}

/** Understood by every command. */
export const EVERYWHERE = {
  help: { kind: 'switch', short: 'h', describe: 'Show help' },
  quiet: { kind: 'switch', short: 'q', describe: 'Print no notes, only data, warnings and errors' },
  'no-input': { kind: 'switch', describe: 'Never ask; fail and name what is missing' },
  'no-color': { kind: 'switch', describe: 'No colours', also: 'NO_COLOR' },
} as const satisfies FlagSpecs

/** Of commands that talk to a server. */
export const CONNECTION = {
  context: {
    kind: 'text',
    value: 'NAME',
    noun: 'contexts',
    describe: 'Use this context',
    also: 'CTL_CONTEXT',
  },
  url: { kind: 'text', value: 'URL', describe: 'Server to talk to', also: 'CTL_URL' },
  'token-file': {
    kind: 'text',
    value: 'FILE',
    describe: 'Read the token from a file',
    also: 'CTL_TOKEN, CTL_TOKEN_FILE',
  },
  'ca-file': { kind: 'text', value: 'FILE', describe: 'Trust this certificate authority as well', also: 'CTL_CA_FILE' },
  approval: {
    kind: 'text',
    value: 'ID',
    describe: 'Make a call that was held and is approved now: the id of its approval',
  },
  timeout: {
    kind: 'duration',
    describe: 'Give up after this long, retries included',
    also: 'CTL_TIMEOUT',
    fallback: '30s',
  },
  debug: { kind: 'switch', short: 'v', describe: 'One line per call on stderr' },
  trace: { kind: 'switch', describe: 'Headers and bodies on stderr, secrets redacted' },
} as const satisfies FlagSpecs

/** Of commands that make one call of their own. */
export const CURL = {
  curl: { kind: 'switch', describe: 'Print the equivalent curl command instead of making the call' },
} as const satisfies FlagSpecs

export const FORMATS = ['table', 'wide', 'json', 'jsonl', 'yaml', 'name'] as const
export type Format = (typeof FORMATS)[number]

/** Of commands that print data. */
export const OUTPUT = {
  output: {
    kind: 'text',
    short: 'o',
    value: 'FORMAT',
    choices: FORMATS,
    describe: 'How to print',
    also: 'CTL_OUTPUT',
    fallback: 'table',
  },
  jq: { kind: 'text', value: 'EXPR', describe: 'Filter the JSON with a jq expression; with -o jsonl, each row' },
  columns: { kind: 'list', value: 'A,B', describe: 'Columns to show' },
  sort: { kind: 'text', value: 'COLUMN', describe: 'Sort rows by a column; -COLUMN for descending' },
  'no-headers': { kind: 'switch', describe: 'No column titles' },
} as const satisfies FlagSpecs

/** Of lists in pages. */
export const LIST = {
  limit: { kind: 'integer', short: 'L', value: 'N', describe: 'Rows at most', fallback: '50' },
  all: { kind: 'switch', describe: 'All rows' },
} as const satisfies FlagSpecs

export const WATCH = {
  watch: {
    kind: 'optional',
    short: 'w',
    value: 'EVERY',
    describe: 'Repeat until Ctrl-C; every 2s by default',
  },
} as const satisfies FlagSpecs

export const CONFIRM = {
  yes: { kind: 'switch', short: 'y', describe: 'Do not ask for confirmation' },
} as const satisfies FlagSpecs

/** Shared flags by the name that a command's `uses` gives them. */
export const SHARED = {
  connection: CONNECTION,
  curl: CURL,
  output: OUTPUT,
  list: LIST,
  watch: WATCH,
  confirm: CONFIRM,
} as const
export type SharedGroup = keyof typeof SHARED

type SharedSpecs = typeof EVERYWHERE &
  typeof CONNECTION &
  typeof CURL &
  typeof OUTPUT &
  typeof LIST &
  typeof WATCH &
  typeof CONFIRM

/** The values of shared flags; those of groups that a command does not use are never there. */
export type SharedValues = FlagValues<SharedSpecs>

/** Every shared flag, for finding the command behind flags that precede it. */
export const ALL_SHARED: SharedSpecs = {
  ...EVERYWHERE,
  ...CONNECTION,
  ...CURL,
  ...OUTPUT,
  ...LIST,
  ...WATCH,
  ...CONFIRM,
}

/** The flags of a command with the shared ones that it uses. */
export function specsOf({
  uses = [],
  flags,
}: {
  readonly uses?: readonly SharedGroup[]
  readonly flags?: FlagSpecs
}): FlagSpecs {
  const shared = uses.map((group): FlagSpecs => SHARED[group])
  return Object.assign({}, EVERYWHERE, ...shared, flags) as FlagSpecs
}

/** The flag of that name. */
export function specNamed(specs: FlagSpecs, name: string): FlagSpec | undefined {
  return Object.hasOwn(specs, name) ? specs[name] : undefined
}

const VALUE_NAMES = {
  switch: '',
  text: 'TEXT',
  integer: 'N',
  number: 'N',
  duration: 'DURATION',
  list: 'A,B',
  many: 'TEXT',
  optional: 'TEXT',
}

/** What help calls the value of a flag. */
export function valueName(spec: FlagSpec): string {
  return spec.value ?? VALUE_NAMES[spec.kind]
}
