/** Variables that raise every rate limit out of reach: for load and for floods of wrong requests, where a 429 is a failure. */
export declare const HIGH_RATE_LIMITS: Readonly<Record<string, string>>
