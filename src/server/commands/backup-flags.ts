import { ConfigError } from '../config/config-error.ts'

/** What the command line of a backup names. */
export interface BackupFlags {
  readonly file: string
  readonly force: boolean
  readonly withMasterKey: boolean
  readonly passphraseFile: string | undefined
  readonly rest: readonly string[]
}

const SWITCHES: ReadonlySet<string> = new Set(['--force', '--with-master-key'])
const PASSPHRASE_FILE = '--passphrase-file'

/** Takes the flags of the command itself out of its words; the others are those of the server. @throws ConfigError */
export function takeFlags(argv: readonly string[]): BackupFlags {
  const given = new Set<string>()
  const words: string[] = []
  let passphraseFile: string | undefined
  for (let at = 0; at < argv.length; at += 1) {
    const word = argv[at] ?? ''
    const [name, attached] = splitFlag(word)
    if (SWITCHES.has(word)) given.add(word)
    else if (name !== PASSPHRASE_FILE) words.push(word)
    else if (attached === undefined) passphraseFile = valueOf(argv[(at += 1)])
    else passphraseFile = valueOf(attached)
  }
  const { file, rest } = takeFile(words)
  return { file, force: given.has('--force'), withMasterKey: given.has('--with-master-key'), passphraseFile, rest }
}

function valueOf(value: string | undefined): string {
  if (value !== undefined && value !== '') return value
  throw new ConfigError(2, `${PASSPHRASE_FILE} needs a value: ${PASSPHRASE_FILE} FILE`)
}

function splitFlag(word: string): readonly [string, string?] {
  const equals = word.indexOf('=')
  return equals < 0 ? [word] : [word.slice(0, equals), word.slice(equals + 1)]
}

/** The one word that is no flag of the server: the first one, or the last one. */
function takeFile(words: readonly string[]): Pick<BackupFlags, 'file' | 'rest'> {
  const [first] = words
  const last = words.at(-1)
  if (first !== undefined && !first.startsWith('-')) return { file: first, rest: words.slice(1) }
  if (last !== undefined && !last.startsWith('-')) return { file: last, rest: words.slice(0, -1) }
  throw new ConfigError(2, 'Name the file of the backup: ctl admin backup create FILE')
}
