export interface FileSize {
  file: string;
  /** With gzip. */
  bytes: number;
}

export function firstLoad(dist?: string): Promise<FileSize[]>;
export function totalOf(files: readonly FileSize[]): number;
