import { open } from 'node:fs/promises'
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
    const part = await linesAfter(log, undefined)
    if (part === undefined)
      throw agentError('no_log', `there is no log at ${log}`, {
        exitCode: EXIT.notFound,
        hints: ['Name the folder of the agent with --state-dir.'],
      })
    const lines = part.text
      .split('\n')
      .slice(0, -1)
      .slice(-Math.max(1, flags.lines ?? LINES))
    session.io.stdout.write(lines.map((line) => `${line}\n`).join(''))
    if (flags.follow === true) await follow(session, log, part.end)
  },
})

/** How far a log was read. */
interface Read {
  readonly inode: number
  readonly bytes: number
}

async function follow({ io }: Session, path: string, from: Read): Promise<void> {
  let end = from
  while (!io.interrupted.aborted) {
    await io.sleep(LOOK_EVERY_MS)
    const part = await linesAfter(path, end)
    // There is none for a moment after it was renamed.
    if (part === undefined) continue
    ;({ end } = part)
    io.stdout.write(part.text)
  }
}

/** The whole lines after that place; all where another file has the name since. The file is bounded by its rotation. */
async function linesAfter(path: string, from: Read | undefined) {
  try {
    const file = await open(path, 'r')
    try {
      const { ino: inode, size } = await file.stat()
      const start = from?.inode === inode && from.bytes <= size ? from.bytes : 0
      const { buffer, bytesRead } = await file.read(Buffer.alloc(size - start), 0, size - start, start)
      const lines = buffer.subarray(0, buffer.subarray(0, bytesRead).lastIndexOf('\n') + 1)
      return { text: lines.toString('utf8'), end: { inode, bytes: start + lines.length } }
    } finally {
      await file.close()
    }
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined
    throw systemCode(error) === 'EACCES' ? notPermitted(path, error) : error
  }
}

function notPermitted(path: string, cause: unknown) {
  return agentError('not_permitted', `${path} is not open to this user`, {
    exitCode: EXIT.denied,
    hints: ['Run the command with sudo.'],
    cause,
  })
}
