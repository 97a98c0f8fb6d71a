export default { a: 10n, b: 0xFFn, c: -12345678901234567890n, d: 1e999, e: Infinity, f: NaN }
