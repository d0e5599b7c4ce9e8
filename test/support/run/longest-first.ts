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
    return (await super.sort(files)).toSorted((a, b) => rankOf(a) - rankOf(b))
  }
}
