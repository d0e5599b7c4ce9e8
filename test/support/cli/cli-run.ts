import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Io, Prompter } from '../../../src/cli/output/io.ts'
import { main } from '../../../src/cli/main.ts'
import type { TokenVault } from '../../../src/cli/session/token-vault.ts'
import { contract } from '../../../src/shared/contract/index.ts'
import { manifestOf } from '../../../src/shared/contract/manifest.ts'
import type { Manifest } from '../../../src/shared/contract/manifest-format.ts'

/** The instant that the command line takes for now. */
export const NOW = Date.parse('2026-02-01T12:00:00.000Z')

export const manifest = manifestOf(contract)

export interface CliOptions {
  readonly isTty?: boolean
  readonly env?: Readonly<Record<string, string>>
  readonly stdin?: string
  /** Answers to prompts, in order; undefined leaves with Ctrl-C. */
  readonly answers?: readonly (string | boolean | undefined)[]
  readonly columns?: number
  readonly rows?: number
  readonly interrupted?: AbortSignal
  readonly isTerminated?: boolean
  /** NOW when absent; a run against a real server needs the real one. */
  readonly nowMs?: () => number
  /** Passes no time when absent. */
  readonly sleep?: (ms: number) => Promise<void>
  /** The keyring of the machine; none when absent. */
  readonly vault?: () => Promise<TokenVault | undefined>
  /** Takes the addresses that a browser would be opened at; there is none when absent. */
  readonly browse?: (url: string) => Promise<boolean>
  /** Another contract than that of the API. */
  readonly manifest?: Manifest
}

/** One thing written, by stream, in the order of writing. */
export interface Written {
  readonly stream: 'stdout' | 'stderr'
  readonly text: string
}

export interface CliResult {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
  readonly written: readonly Written[]
  readonly questions: readonly string[]
}

/** A home of its own for one test: configuration, working directory and what a run needs of a process. */
export interface CliHome {
  readonly home: string
  run(argv: readonly string[], options?: CliOptions): Promise<CliResult>
  remove(): void
}

/** Makes a home in the temporary directory; the whole command line runs in it, in process. */
export function createCliHome(env: Readonly<Record<string, string>> = {}): CliHome {
  const home = mkdtempSync(join(tmpdir(), 'ctl-home-'))
  return {
    home,
    remove: () => rmSync(home, { recursive: true }),
    async run(argv, options = {}) {
      const written: Written[] = []
      const questions: string[] = []
      const io = fakeIo({ home, written, questions, options, env })
      const exitCode = await main(argv, { io, manifest: options.manifest ?? manifest })
      const textOf = (stream: Written['stream']): string =>
        written.flatMap((one) => (one.stream === stream ? [one.text] : [])).join('')
      return { exitCode, stdout: textOf('stdout'), stderr: textOf('stderr'), written, questions }
    },
  }
}

interface Faking {
  readonly home: string
  readonly written: Written[]
  readonly questions: string[]
  readonly options: CliOptions
  readonly env: Readonly<Record<string, string>>
}

function fakeIo({ home, written, questions, options, env }: Faking): Io {
  const { isTty = false, columns = 100, rows = 24, interrupted = new AbortController().signal } = options
  const sink = (stream: Written['stream']) => ({
    isTty,
    columns,
    rows,
    write: (text: string) => void written.push({ stream, text }),
  })
  return {
    stdin: { isTty: isTty && options.stdin === undefined, text: async () => options.stdin ?? '' },
    stdout: sink('stdout'),
    stderr: sink('stderr'),
    env: { NO_COLOR: '1', ...env, ...options.env },
    cwd: home,
    home,
    nowMs: options.nowMs ?? (() => NOW),
    sleep: options.sleep ?? (async () => undefined),
    interrupted,
    isTerminated: options.isTerminated ?? false,
    ...(options.vault && { vault: options.vault }),
    ...(options.browse && { browse: options.browse }),
    prompter: async () =>
      scripted(options.answers ?? [], questions, (text) => written.push({ stream: 'stderr', text })),
  }
}

function scripted(
  answers: readonly (string | boolean | undefined)[],
  questions: string[],
  say: (text: string) => void,
): Prompter {
  const next = (question: string): string | boolean | undefined => {
    const index = questions.push(question) - 1
    if (index >= answers.length) throw new Error(`nobody answers "${question}"`)
    const answer = answers[index]
    say(`? ${question} ${typeof answer === 'boolean' ? (answer ? 'yes' : 'no') : (answer ?? '(Ctrl-C)')}\n`)
    return answer
  }
  const text = async (question: string): Promise<string | undefined> => {
    const answer = next(question)
    return answer === undefined ? undefined : String(answer)
  }
  return {
    confirm: async (question) => {
      const answer = next(question)
      return answer === undefined ? undefined : answer === true
    },
    input: text,
    secret: text,
    choose: (question, choices) => text(`${question} [${choices.map(({ name }) => name).join(', ')}]`),
  }
}
