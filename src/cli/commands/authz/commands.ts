import type { OwnCommands } from '../../argv/own-commands.ts'

/** What `ctl authz` offers beside, or in place of, what derives from its operations. */
export const authzCommands: OwnCommands = {
  'authz check': {
    summary: 'Ask whether a subject holds a relation on an object',
    load: async (manifest) => (await import('./check.ts')).check(manifest),
  },
  'authz explain': {
    summary: 'Show why a check comes out as it does, and what would allow it',
    load: async (manifest) => (await import('./explain.ts')).explain(manifest),
  },
  'authz who-can': {
    summary: 'Find everyone who holds a relation on an object',
    load: async (manifest) => (await import('./who-can.ts')).whoCan(manifest),
  },
  'authz what-can': {
    summary: 'Find everything that a subject may do',
    load: async (manifest) => (await import('./what-can.ts')).whatCan(manifest),
  },
  'authz lookup-resources': {
    summary: 'Find every object of a type on which a subject holds a relation',
    load: async (manifest) => (await import('./lookup-resources.ts')).lookupResources(manifest),
  },
  'authz lookup-subjects': {
    summary: 'Find every subject of a type that holds a relation on an object',
    load: async (manifest) => (await import('./lookup-subjects.ts')).lookupSubjects(manifest),
  },
  'authz impact': {
    summary: 'Try changes and show who would gain or lose what',
    load: async (manifest) => (await import('./impact.ts')).impact(manifest),
  },
  'authz validate': {
    summary: 'Run policy tests: validation files of SpiceDB, without a server',
    load: async () => (await import('./validate.ts')).validate,
  },
}
