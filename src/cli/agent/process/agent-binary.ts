import { checksumOf, type AgentBinary } from '../reports.ts'

/** The program that runs, as the agent reports it: its version, and the SHA-256 of its main file. */
export async function agentBinary(version: string, path: string = mainFile()): Promise<AgentBinary> {
  return { version, checksum: await checksumOf(path) }
}

const READ_AGAIN_MS = 3_600_000

/** Reads the program at most once an hour. One that cannot be read any more, such as after an upgrade, is what was read last. */
export function createBinaryReader(version: string, now: () => number): () => Promise<AgentBinary> {
  let readMs = -Infinity
  let last: Promise<AgentBinary> | undefined
  return () => {
    if (last !== undefined && now() - readMs < READ_AGAIN_MS) return last
    readMs = now()
    const before = last
    const read = agentBinary(version)
    last = before === undefined ? read : read.catch(() => before)
    return last
  }
}

function mainFile(): string {
  return process.argv[1] ?? process.execPath
}
