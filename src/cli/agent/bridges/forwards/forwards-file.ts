import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { replaceFile } from '../../state/atomic-file.ts'
import { systemCode } from '../../errors.ts'
import type { Forward } from '../../firewall/firewall-view.ts'

const ForwardsFile = z.object({
  format: z.literal(1),
  node_id: z.string(),
  forwards: z.array(
    z.object({
      interfaceName: z.string().regex(/^[a-z][a-z0-9_.-]{0,14}$/),
      subnets: z.array(z.string()),
      initiators: z.enum(['both', 'mesh', 'outside']),
    }),
  ),
})

/** What an earlier process forwarded; nothing where the file is missing, of another node or cannot be used. */
export async function readForwards(path: string, nodeId: string): Promise<readonly Forward[]> {
  try {
    const read = ForwardsFile.safeParse(JSON.parse(await readFile(path, 'utf8')))
    return read.success && read.data.node_id === nodeId ? read.data.forwards : []
  } catch (error) {
    if (error instanceof SyntaxError || systemCode(error) === 'ENOENT') return []
    throw error
  }
}

/** Writes it. @throws the error of the file system. */
export function writeForwards(path: string, nodeId: string, forwards: readonly Forward[]): Promise<void> {
  return replaceFile(path, `${JSON.stringify({ format: 1, node_id: nodeId, forwards })}\n`)
}
