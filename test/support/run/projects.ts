import type { ProjectConfig } from 'vitest/node'

/** Files that replace a module for their whole process (`vi.mock`): each gets a process of its own. */
export const MODULE_MOCKS: readonly string[] = [
  'test/unit/cli/errors/guard.test.ts',
  'test/unit/server/adapters/outgoing-fetch/connect.test.ts',
]

/** Tests that hold programs to a time: beside others they would measure those. */
const TIMED: readonly string[] = ['e2e/agent-nat', 'e2e/replicas', 'fuzz/floods'].map((name) => `test/${name}.test.ts`)

/** Tests in `test/integration` that start programs all the time, as those in `test/e2e` do. */
const INTEGRATION_BY_PROGRAMS: readonly string[] = ['agent/**/*', 'agent-device', 'mesh-lab'].map(
  (name) => `test/integration/${name}.test.ts`,
)

/** A slow machine leaves out tests of programs alone (CTL_TEST_UNTIL). */
const DEADLINE_RUNNER = 'test/support/run/deadline-runner.ts'

const filesOf = (...folders: readonly string[]) => folders.map((folder) => `test/${folder}/**/*.test.ts`)

type Project = Pick<ProjectConfig, 'name' | 'include' | 'exclude' | 'maxWorkers' | 'isolate' | 'runner'>

/**
 * The projects, which run one after the other and together have every file. Where files are not isolated, those of a worker
 * share one process, which loads the sources once.
 */
const IN_ORDER: readonly Project[] = [
  {
    name: 'units',
    include: filesOf('unit', 'validation'),
    exclude: [...MODULE_MOCKS],
    maxWorkers: 2,
    isolate: false,
  },
  { name: 'module mocks', include: [...MODULE_MOCKS], maxWorkers: 2, isolate: true },
  {
    name: 'datastores',
    include: filesOf('conformance', 'integration', 'contract', 'golden', 'model'),
    exclude: [...INTEGRATION_BY_PROGRAMS],
    maxWorkers: 2,
    isolate: false,
  },
  { name: 'timed programs', include: [...TIMED], maxWorkers: 1, isolate: false, runner: DEADLINE_RUNNER },
  // They wait for other programs most of the time.
  {
    name: 'programs',
    include: [...filesOf('e2e', 'fuzz'), ...INTEGRATION_BY_PROGRAMS],
    exclude: [...TIMED],
    maxWorkers: 3,
    isolate: false,
    runner: DEADLINE_RUNNER,
  },
]

export const projects = IN_ORDER.map((project, index) => ({
  extends: true as const,
  test: { ...project, sequence: { groupOrder: index } },
}))
