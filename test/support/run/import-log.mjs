import { register } from 'node:module'

// Preloaded into a server: notes each module that it loads in the file that CTL_TEST_IMPORT_LOG names.
register(new URL('./import-log-hooks.mjs', import.meta.url))
