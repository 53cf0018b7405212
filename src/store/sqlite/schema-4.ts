/** Sign-ins to the console that outlive the process. */
export const SCHEMA_4 = `
CREATE TABLE sign_ins (
  id TEXT PRIMARY KEY,
  binding TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
`;
