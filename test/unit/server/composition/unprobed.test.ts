import { expect, test } from 'vitest'
import { unprobedOf } from '../../../../src/server/composition/unprobed.ts'
import type { SignerFault } from '../../../../src/server/ports/signer.ts'

const SINCE = new Date(0)

function lastCall(isReachable: boolean | undefined, fault?: SignerFault) {
  const status = () => ({ isReachable, since: SINCE, fault, detail: undefined, refusedSignatures: 0 })
  return unprobedOf({ signer: { status } })[0]?.lastCall()
}

test('keys in the datastore are not reported beside it', () => {
  expect(unprobedOf({ signer: {} })).toEqual([])
})

test('a signing service is reported from its first call on, with a sentence for everyone', () => {
  expect(lastCall(undefined)).toBeUndefined()
  expect(lastCall(true)).toEqual({ since: SINCE, fault: undefined })
  expect(lastCall(false, 'sealed')).toEqual({ since: SINCE, fault: 'it is sealed: unseal it' })
  expect(lastCall(false, 'timeout')).toEqual({ since: SINCE, fault: 'it does not answer' })
})
