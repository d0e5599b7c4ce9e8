import { faultyFiles, placedFault } from '../folder/file-faults.ts'
import type { FileFault } from '../folder/read-file.ts'
import type { FileDocument } from '../document.ts'
import type { World } from '../kind.ts'
import type { ValueFault } from '../schema/value-fault.ts'
import { createCatalogue, type Catalogue } from './catalogue.ts'
import { definitionFaults } from './definition-faults.ts'
import { labelFaults } from './label-faults.ts'
import { memberFaults } from './member-faults.ts'
import { roleFaults } from './role-faults.ts'
import { selectorFaults } from './selector-faults.ts'

type Check = (catalogue: Catalogue, document: FileDocument) => Promise<readonly ValueFault[]> | readonly ValueFault[]

const CHECKS: readonly Check[] = [definitionFaults, labelFaults, memberFaults, roleFaults, selectorFaults]

/**
 * Examines what the server would refuse in the middle of an apply, as far as the files and the Domain tell: labels and their values,
 * selectors, roles, and the forms of references. A name that nothing has yet is no fault: it may come later.
 *
 * @throws CliError that lists the faults by file, line and column.
 */
export async function assertMeaning(world: World, documents: readonly FileDocument[]): Promise<void> {
  const catalogue = createCatalogue(world, documents)
  const faults: FileFault[] = []
  for (const document of documents.filter(({ isAbsent }) => isAbsent !== true)) {
    for (const check of CHECKS)
      faults.push(...(await check(catalogue, document)).map((fault) => placedFault(document, fault)))
  }
  if (faults.length > 0) throw faultyFiles(faults)
}
