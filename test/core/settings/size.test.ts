import { describe, expect, test } from 'vitest';
import { parseSize } from '../../../src/core/settings/parse-value.ts';

describe('a size', () => {
  test.for([
    ['0', 0],
    ['512', 512],
    ['512B', 512],
    ['1K', 1_024],
    ['64KB', 65_536],
    ['64kb', 65_536],
    ['64KiB', 65_536],
    ['500MB', 524_288_000],
    ['1GB', 1_073_741_824],
    ['1.5G', 1_610_612_736],
    [' 1 GB ', 1_073_741_824],
  ] as const)('%s', ([text, bytes]) => {
    expect(parseSize(text)).toBe(bytes);
  });

  test.for([
    [''],
    ['GB'],
    ['-1GB'],
    ['1TB'],
    ['1e3'],
    ['1,5GB'],
    ['.5G'],
    ['1GB2'],
    ['ten'],
    ['9999999999G'],
  ] as const)('is not %o', ([text]) => {
    expect(parseSize(text)).toBeNull();
  });
});
