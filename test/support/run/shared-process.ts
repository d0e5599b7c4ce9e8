/** Folders of `test` whose files run one after another in the same process, so that it loads the sources once. */
const SHARED_PROCESS_FOLDERS = ['unit', 'validation'].join('|')

/** Files of these folders that replace a module for the whole process (`vi.mock`): each gets a process of its own. */
export const MODULE_MOCKS: readonly string[] = [
  'test/unit/cli/errors/guard.test.ts',
  'test/unit/server/adapters/outgoing-fetch/connect.test.ts',
]

/** Patterns of the files that share a process, and of those that have one of their own. Together they are all files. */
export const sharedProcess = { include: [`test/@(${SHARED_PROCESS_FOLDERS})/**/*.test.ts`], exclude: [...MODULE_MOCKS] }
export const ownProcess = { include: [`test/!(${SHARED_PROCESS_FOLDERS})/**/*.test.ts`, ...MODULE_MOCKS] }
