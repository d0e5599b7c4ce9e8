import { open, stat } from 'node:fs/promises'
import { agentError, systemCode } from '../../agent/errors.ts'
import { defineCommand } from '../../argv/command.ts'
import { EXIT } from '../../errors/exit-code.ts'
import type { Session } from '../../session/session.ts'
import { STATE_DIR_FLAG } from './flags.ts'
import { placeIn } from './place-in.ts'

const LINES = 100
const LOOK_EVERY_MS = 500

export const logs = defineCommand({
  flags: {
    ...STATE_DIR_FLAG,
    lines: { kind: 'integer', short: 'n', value: 'N', describe: 'Last lines to print', fallback: String(LINES) },
    follow: { kind: 'switch', short: 'f', describe: 'Print further lines as they are written' },
  },
  examples: ['ctl agent logs -n 20', 'ctl agent logs --follow'],
  async run(session, { flags }) {
    const { log } = placeIn(session, flags)
    const text = await readFrom(log, 0)
    const lines = text
      .split('\n')
      .slice(0, -1)
      .slice(-Math.max(1, flags.lines ?? LINES))
    session.io.stdout.write(lines.map((line) => `${line}\n`).join(''))
    if (flags.follow === true) await follow(session, log, Buffer.byteLength(text))
  },
})

/** Starts from the beginning of the file where it has become smaller: it was renamed, and a new one begun. */
async function follow({ io }: Session, path: string, from: number): Promise<void> {
  let position = from
  while (!io.interrupted.aborted) {
    await io.sleep(LOOK_EVERY_MS)
    const { size } = await stat(path)
    if (size < position) position = 0
    const text = size === position ? '' : await readFrom(path, position)
    position += Buffer.byteLength(text)
    io.stdout.write(text)
  }
}

/** The file is bounded by its rotation. */
async function readFrom(path: string, position: number): Promise<string> {
  try {
    const file = await open(path, 'r')
    try {
      const { size } = await file.stat()
      const buffer = Buffer.alloc(Math.max(0, size - position))
      const { bytesRead } = await file.read(buffer, 0, buffer.length, position)
      return buffer.subarray(0, bytesRead).toString('utf8')
    } finally {
      await file.close()
    }
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error
    throw agentError('no_log', `there is no log at ${path}`, {
      exitCode: EXIT.notFound,
      hints: ['Name the folder of the agent with --state-dir.'],
    })
  }
}
