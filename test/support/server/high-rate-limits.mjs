/** Variables that raise every rate limit out of reach: for load and for floods of wrong requests, where a 429 is a failure. */
export const HIGH_RATE_LIMITS = Object.fromEntries(
  ['FAILED_CREDENTIALS', 'SIGN_IN', 'SERVICE_TOKENS', 'REGISTRATIONS', 'NODE', 'DOMAIN', 'WRITES', 'READS'].map(
    (name) => [`SERVICE_RATE_LIMIT_${name}`, '1000000/s'],
  ),
)
