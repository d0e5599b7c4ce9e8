import { isMissingProgram } from '../system/missing-program.ts'
import type { RunProgram } from '../system/run-program.ts'
import { createNft, type Nft } from './nft.ts'
import { tableNameOf } from './table-name.ts'
import { deletion } from './table-target.ts'

/**
 * Removes the table of an interface, also one that an agent left which is not running any more. A table of another program
 * stays.
 *
 * @throws CliError where it cannot be removed.
 */
export function removeFirewall(run: RunProgram, interfaceName: string): Promise<void> {
  return removeTable(createNft(run), tableNameOf(interfaceName))
}

/** Removes a table if the agent made it. */
export async function removeTable(nft: Nft, table: string): Promise<void> {
  try {
    const found = await nft.read(table)
    if (found?.marker !== undefined) await nft.commit(deletion(table))
  } catch (error) {
    // Without nft there is no table that the agent made.
    if (!isMissingProgram(error)) throw error
  }
}
