import { expect, test } from 'vitest'
import { unprobedOf } from '../../../../src/server/composition/unprobed.ts'

const keys = () => []
const SINCE = new Date(0)
const lastCall = (isReachable: boolean | undefined, fault?: string) =>
  unprobedOf({ signer: { keys, status: () => ({ isReachable, since: SINCE, fault }) } })[0]?.lastCall()

test('keys in the datastore are not reported beside it', () => {
  expect(unprobedOf({ signer: { keys } })).toEqual([])
})

test('a signing service is reported from its first call on, with a sentence for everyone', () => {
  expect(lastCall(undefined)).toBeUndefined()
  expect(lastCall(true)).toEqual({ since: SINCE, fault: undefined })
  expect(lastCall(false, 'sealed')).toEqual({ since: SINCE, fault: 'it is sealed: unseal it' })
  expect(lastCall(false, 'timeout')).toEqual({ since: SINCE, fault: 'it does not answer' })
  expect(lastCall(false, 'a fault of a later version')).toEqual({ since: SINCE, fault: 'it does not answer' })
})
