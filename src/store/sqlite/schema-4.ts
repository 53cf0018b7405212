/** Sign-ins to the console that outlive the process. */
export const SCHEMA_4 = `
CREATE TABLE sign_ins (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  binding TEXT NOT NULL,
  began_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
`;
