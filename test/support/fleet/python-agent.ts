import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

const FOLDER = fileURLToPath(new URL('../../../examples/agent-python', import.meta.url))
/** Its compiled files would lie among the sources. A program that enters a namespace does not keep the folder it is started in. */
const ENV = { ...process.env, PYTHONDONTWRITEBYTECODE: '1', PYTHONPATH: FOLDER }

const OUTPUT_BYTES_MAX = 64 * 1024 * 1024

/** A line that the agent prints. */
export interface Said {
  readonly event: string
  readonly [fact: string]: unknown
}

/** The agent of the examples at work, as its README says to start it. */
export interface PythonAgent {
  /** Everything that it has said so far, or all of one event. */
  said(event?: string): readonly Said[]
  /** Ends it with Ctrl-C and resolves with its exit code and whatever it said on stderr. */
  interrupt(): Promise<{ readonly exitCode: number | null; readonly stderr: string }>
  /** Resolves with the exit code once it has ended by itself. */
  ended(): Promise<number | null>
  /** Ends it without a chance to clean up. */
  kill(): Promise<void>
}

/** Starts `python3 -m agent run`, after the words that enter a namespace where there are some. */
export function startPythonAgent(python: string, args: readonly string[], enter: readonly string[] = []): PythonAgent {
  const [program = '', ...words] = [...enter, python, '-m', 'agent', 'run', ...args]
  const child = spawn(program, words, {
    cwd: FOLDER,
    env: ENV,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const lines: Said[] = []
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(JSON.parse(line) as Said))
  const stderr = text(child.stderr)
  const closed = once(child, 'close') as Promise<[number | null]>
  const exited = once(child, 'exit')
  const ended = async (): Promise<number | null> => (await closed)[0]
  return {
    said: (event) => lines.filter((line) => event === undefined || line.event === event),
    ended,
    async interrupt() {
      child.kill('SIGINT')
      return { exitCode: await ended(), stderr: await stderr }
    },
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
  }
}

/** Runs another command of the agent to its end; the exit code, what it said, and the last line of that. */
export function runPythonAgent(
  python: string,
  args: readonly string[],
  input = '',
): { readonly exitCode: number | null; readonly said: readonly Said[]; readonly last: Said | undefined } {
  const { status, stdout } = spawnSync(python, ['-m', 'agent', ...args], {
    cwd: FOLDER,
    env: ENV,
    input,
    encoding: 'utf8',
    maxBuffer: OUTPUT_BYTES_MAX,
  })
  const lines = stdout.trimEnd().split('\n')
  const said = lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Said)
  return { exitCode: status, said, last: said.at(-1) }
}

/** Runs the tests that are beside the agent; what they say. */
export function testPythonAgent(python: string): { readonly exitCode: number | null; readonly stderr: string } {
  const { status, stderr } = spawnSync(python, ['-m', 'unittest'], { cwd: FOLDER, env: ENV, encoding: 'utf8' })
  return { exitCode: status, stderr }
}
