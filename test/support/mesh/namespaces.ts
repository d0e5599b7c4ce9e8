import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { runProgram } from '../../../src/cli/agent/system/run-program.ts'

const NAMESPACES = '/run/netns'

/** Runs a program that has to succeed. */
export async function must(program: string, args: readonly string[], stdin?: string): Promise<string> {
  const result = await runProgram(program, args, { timeoutMs: 30_000, ...(stdin === undefined ? {} : { stdin }) })
  if (result.exitCode !== 0) throw new Error(`${program} ${args.join(' ')}: ${result.stderr}`)
  return result.stdout
}

/** A network namespace with a process in it, which also has mounts of its own. */
export interface Namespace {
  readonly name: string
  /** Command and arguments before those of a program that is to run inside. */
  readonly enter: readonly string[]
  /** Carries out lines of `ip -batch` inside. */
  ip(lines: readonly string[]): Promise<void>
  nft(ruleset: string): Promise<void>
}

/**
 * Makes a network namespace. Inside, `/run` is empty and changes of `/etc` stay inside, so that machines do not share sockets of
 * wireguard-go, `/etc/hosts` and `/etc/resolv.conf`.
 */
export async function makeNamespace(name: string): Promise<Namespace> {
  await must('ip', ['netns', 'add', name])
  await must('ip', ['-n', name, 'link', 'set', 'lo', 'up'])
  const holder = await hold(name)
  return {
    name,
    enter: ['nsenter', `--target=${holder}`, '--mount', '--net', '--wd=/'],
    ip: async (lines) => void (await must('ip', ['-n', name, '-batch', '-'], `${lines.join('\n')}\n`)),
    nft: async (ruleset) => void (await must('ip', ['netns', 'exec', name, 'nft', '-f', '-'], ruleset)),
  }
}

/** The processes of a namespace. */
export async function pidsIn(name: string): Promise<readonly number[]> {
  const lines = (await must('ip', ['netns', 'pids', name])).split('\n')
  return lines.filter((line) => line !== '').map(Number)
}

/** Ends every process of a namespace and removes it. */
export async function removeNamespace(name: string): Promise<void> {
  for (const pid of await pidsIn(name)) endProcess(pid)
  await must('ip', ['netns', 'del', name])
}

/** Namespaces that a run left behind which is no longer there: their names have the id of its process. */
export function leftovers(prefix: string): readonly string[] {
  if (!existsSync(NAMESPACES)) return []
  return readdirSync(NAMESPACES).filter((name) => {
    const [start, pid] = [name.slice(0, prefix.length + 1), /^\d+/.exec(name.slice(prefix.length + 1))?.[0]]
    return start === `${prefix}-` && pid !== undefined && !existsSync(`/proc/${pid}`)
  })
}

const MOUNTS = [
  'mount -t tmpfs tmpfs /run',
  'mkdir -p /run/lab/upper /run/lab/work /run/wireguard',
  'mount -t overlay -o lowerdir=/etc,upperdir=/run/lab/upper,workdir=/run/lab/work overlay /etc',
  'echo ready',
  'exec sleep infinity',
].join(' && ')

/** The process that keeps the mounts. It does not keep the process of the test from ending. */
async function hold(name: string): Promise<number> {
  const unshare = ['unshare', '--mount', '--propagation', 'private', 'sh', '-c', MOUNTS]
  const holder = spawn('ip', ['netns', 'exec', name, ...unshare], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(holder, 'exit').then(() => {
    throw new Error(`The namespace ${name} cannot have mounts of its own.`)
  })
  await Promise.race([once(holder.stdout, 'data'), ended])
  ended.catch(() => undefined)
  holder.stdout.destroy()
  holder.unref()
  if (holder.pid === undefined) throw new Error(`The namespace ${name} has no process.`)
  return holder.pid
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
