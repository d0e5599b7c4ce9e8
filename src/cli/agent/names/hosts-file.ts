import { exists } from './existing-text.ts'
import { hasBlock, withBlock, withoutBlock } from './hosts-block.ts'
import type { MeshName } from './name-table.ts'
import { replaceText } from './replace-text.ts'

/** The names of one mesh interface in the hosts file, in a block between two marker lines. */
export interface HostsFile {
  /** Creates an empty block where there is none; names of an earlier run stay. Throws what `write` throws. */
  create(): Promise<void>
  /**
   * Replaces the names of the block.
   *
   * @throws CliError `hosts_block_broken`, `hosts_file_unwritable`; the file is unchanged then.
   */
  write(names: readonly MeshName[]): Promise<void>
  /** Takes the block out; does nothing where there is no block or no file. Throws what `write` throws. */
  remove(): Promise<void>
}

/** Opens the hosts file at `path`; nothing is read or written yet. */
export function createHostsFile(path: string, interfaceName: string): HostsFile {
  return {
    create: () =>
      replaceText(path, (text) => (hasBlock(text, interfaceName) ? text : withBlock(text, interfaceName, []))),
    write: (names) => replaceText(path, (text) => withBlock(text, interfaceName, names)),
    async remove() {
      if (await exists(path)) await replaceText(path, (text) => withoutBlock(text, interfaceName))
    },
  }
}
