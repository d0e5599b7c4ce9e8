import { afterAll, expect } from 'vitest'
import { announce, withdrawAnnouncement } from './announcement.ts'

announce(expect.getState().testPath ?? '')
afterAll(withdrawAnnouncement)
