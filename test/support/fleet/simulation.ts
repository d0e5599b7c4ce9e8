import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { CtlResult } from '../server/ctl-process.ts'

const CTL = fileURLToPath(new URL('../../../bin/ctl.js', import.meta.url))

/** A running `ctl agent-sim`. */
export interface Simulation {
  readonly pid: number | undefined
  /** Its stderr so far: with `-o json` a line of JSON for each step. */
  progress(): string
  /** Sends the signal. It prints its summary and exits with 130 after SIGINT, 143 after SIGTERM. */
  interrupt(signal?: 'SIGINT' | 'SIGTERM'): void
  readonly ended: Promise<CtlResult>
}

/** Warnings of a simulation, without that of its own load: how busy this machine was is no matter of correctness. */
export function warningsOf(stderr: string): readonly string[] {
  const lines = stderr.split('\n').filter((line) => line.startsWith('warning'))
  return lines.filter((line) => !line.startsWith('warning: do not trust the latencies'))
}

/** Starts a simulation in a process of its own. */
export function startSimulation(env: Readonly<Record<string, string>>, args: readonly string[]): Simulation {
  const child = spawn(process.execPath, [CTL, 'agent-sim', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, CTL_TOKEN_STORE: 'file', ...env },
  })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const ended = once(child, 'close').then(([exitCode]) => ({ exitCode: Number(exitCode), stdout, stderr }))
  return { pid: child.pid, progress: () => stderr, interrupt: (signal = 'SIGINT') => void child.kill(signal), ended }
}
