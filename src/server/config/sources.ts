import { readFileSync } from 'node:fs'
import { parse as parseYaml } from 'yaml'
import { nearest } from '../../shared/nearest.ts'
import { ConfigError } from './config-error.ts'
import { envOf, fileKeyOf, flagOf, optionOf, OPTION_NAMES, type OptionName } from './options.ts'
import { hasPassword } from './values.ts'

/** A value and its place, as an error message names it. */
export interface Said {
  readonly text: string
  readonly place: string
  /** 2 for the command line, 1 elsewhere. */
  readonly exitCode: 1 | 2
}

export type Sayings = ReadonlyMap<OptionName, Said>

const FLAGS = new Map(OPTION_NAMES.map((name) => [flagOf(name), name]))
const ENVS = new Map(OPTION_NAMES.map((name) => [envOf(name), name]))
/** A configuration file cannot include another one. */
const KEYS = new Map(OPTION_NAMES.filter((name) => name !== 'config').map((name) => [fileKeyOf(name), name]))

/** Reads `--flag value`, `--flag=value` and switches. Unknown and repeated flags, and stray words, are refused. */
export function fromArgv(argv: readonly string[]): Sayings {
  const said = new Map<OptionName, Said>()
  const rest = [...argv]
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const [flag, attached] = splitFlag(word)
    const name = FLAGS.get(flag)
    if (name === undefined) throw unknownWord(flag)
    if (said.has(name)) throw new ConfigError(2, `${flag} is given twice.`)
    if (attached !== undefined && isOn(name)) throw new ConfigError(2, `${flag} takes no value.`)
    const text = attached ?? (isSwitch(name) ? String(!isOn(name)) : rest.shift())
    if (text === undefined)
      throw new ConfigError(2, `${flag} needs a value: ${flag} ${optionOf(name).placeholder ?? ''}`)
    refuseSecret(name, text)
    said.set(name, { text, place: flag, exitCode: 2 })
  }
  return said
}

/** Reads the variables; an empty one counts as unset, an unknown `SERVICE_*` is refused. */
export function fromEnv(env: Readonly<Record<string, string | undefined>>): Sayings {
  const said = new Map<OptionName, Said>()
  for (const [variable, text] of Object.entries(env)) {
    const name = ENVS.get(variable)
    const isOurs = name !== undefined || variable.startsWith('SERVICE_')
    if (!isOurs || text === undefined || text === '') continue
    if (name === undefined) throw new ConfigError(1, `There is no setting ${variable}.${guess(variable, ENVS.keys())}`)
    said.set(name, { text, place: variable, exitCode: 1 })
  }
  return said
}

/**
 * Reads the `--config` file: a mapping in YAML, of which JSON is a part. Keys with a common prefix may be grouped in
 * a section of that name: `rate_limit: {node: 10/s}` is `rate_limit_node: 10/s`.
 */
export function fromFile(path: string): Sayings {
  const content = parseFile(path)
  const said = new Map<OptionName, Said>()
  for (const [key, value] of entriesOf(content)) {
    const name = KEYS.get(key)
    if (name === undefined) throw new ConfigError(1, `${path} has an unknown key ${key}.${guess(key, KEYS.keys())}`)
    if (name !== undefined && said.has(name)) throw new ConfigError(1, `${key} is given twice in ${path}.`)
    const text = textOf(value)
    if (text === undefined)
      throw new ConfigError(1, `${key} in ${path} must be a text, a number, true, false or a list of texts.`)
    said.set(name, { text, place: `${key} in ${path}`, exitCode: 1 })
  }
  return said
}

/** The entries, those of sections under their whole names. */
function* entriesOf(content: object): Generator<readonly [key: string, value: unknown]> {
  for (const [key, value] of Object.entries<unknown>({ ...content })) {
    const isMapping = typeof value === 'object' && value !== null && !Array.isArray(value)
    if (!isMapping || KEYS.has(key)) yield [key, value]
    else for (const [inner, each] of Object.entries<unknown>({ ...value })) yield [`${key}_${inner}`, each]
  }
}

function splitFlag(word: string): [flag: string, attached: string | undefined] {
  const equals = word.indexOf('=')
  return word.startsWith('--') && equals > 0 ? [word.slice(0, equals), word.slice(equals + 1)] : [word, undefined]
}

function isSwitch(name: OptionName): boolean {
  return optionOf(name).placeholder === undefined
}

function isOn(name: OptionName): boolean {
  return optionOf(name).isOn === true
}

function unknownWord(word: string): ConfigError {
  if (!word.startsWith('-')) return new ConfigError(2, 'Only flags are taken here; see --help.')
  return new ConfigError(2, `There is no flag ${word}.${guess(word, FLAGS.keys()) || ' See --help.'}`)
}

function guess(word: string, known: Iterable<string>): string {
  const near = nearest(word, known)
  return near === undefined ? '' : ` Did you mean ${near}?`
}

/** Every user of the machine can read the command line. */
function refuseSecret(name: OptionName, text: string): void {
  const { notInArgv } = optionOf(name)
  if (notInArgv !== undefined)
    throw new ConfigError(2, `${flagOf(name)} is a secret and not taken from the command line; use ${notInArgv}.`)
  if (name === 'natsUrl' && text.includes('@'))
    throw new ConfigError(
      2,
      '--nats-url holds credentials, which everybody on this machine could read; use --nats-credentials-file.',
    )
  if (name === 'databaseUrl' && hasPassword(text))
    throw new ConfigError(
      2,
      '--database-url holds a password, which everybody on this machine could read; use SERVICE_DATABASE_URL, a --config file or a .pgpass file.',
    )
}

function parseFile(path: string): object {
  const content = parsed(path)
  if (content === null || content === undefined) return {}
  if (typeof content !== 'object' || Array.isArray(content))
    throw new ConfigError(1, `${path} must hold one mapping of settings.`)
  return content
}

function parsed(path: string): unknown {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw new ConfigError(1, `The configuration file ${path} cannot be read (${codeOf(error)}).`)
  }
  try {
    return parseYaml(text) as unknown
  } catch (error) {
    const [line = ''] = (error instanceof Error ? error.message : '').split('\n')
    throw new ConfigError(1, `${path} is neither YAML nor JSON: ${line.replace(/:$/, '.')}`)
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error)
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value.join(',')
  return undefined
}
