import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Folders of `test`, those first whose files take longest: the run does not end with one worker waiting for the other. */
const FOLDERS = [
  'e2e',
  'conformance',
  'fuzz',
  'integration',
  'contract',
  'golden',
  'model',
  'validation',
  'bench',
  'unit',
]

/** Starts whole folders in that order, and in each what took longest the last time, or else the largest files. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId }: TestSpecification) => {
      const [, folder = ''] = relative(this.ctx.config.root, moduleId).split('/')
      return FOLDERS.indexOf(folder)
    }
    // oxlint-disable-next-line unicorn/no-array-sort -- the base class's own method, which copies
    const sorted = await super.sort(files)
    const ranks = [...new Set(sorted.map(rankOf))].toSorted((a, b) => a - b)
    return ranks.flatMap((rank) => turned(sorted.filter((file) => rankOf(file) === rank)))
  }
}

const DAY_MS = 86_400_000

/** The share of the files that the beginning moves by each day: it comes near all of them before it returns to one. */
const STRIDE = 0.382

/**
 * Where the last files may be left out (CTL_TEST_UNTIL), each day begins at another one, so that those are others, too.
 */
function turned<File>(files: readonly File[]): File[] {
  const days = process.env['CTL_TEST_UNTIL'] === undefined ? 0 : Math.floor(Date.now() / DAY_MS)
  const begin = Math.floor(((days * STRIDE) % 1) * files.length)
  return [...files.slice(begin), ...files.slice(0, begin)]
}
