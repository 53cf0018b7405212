/** What a call was judged by, beside the line that says so: a rule can be tried on calls of the past. */
export const SCHEMA_2 = `
ALTER TABLE audit ADD COLUMN call TEXT;
`;
