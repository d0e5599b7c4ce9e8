import { z } from 'zod'
import { defineProvider, HttpsUrl, PlaceName } from '../provider.ts'

/** Amazon Web Services: a Cloud is one account. */
export const aws = defineProvider({
  endpoint: z.looseObject({
    account_id: z.string().regex(/^\d{12}$/, { error: 'must be 12 digits' }),
    partition: z
      .string()
      .regex(/^aws(?:-[a-z]{1,16}){0,3}$/, { error: 'must be a partition such as aws or aws-cn' })
      .optional(),
    sts_endpoint: HttpsUrl.optional(),
  }),
  regionDefaults: z.looseObject({ region: PlaceName.optional(), availability_zone: PlaceName.optional() }),
  externalIdOf: ({ account_id: accountId }) => accountId,
})
