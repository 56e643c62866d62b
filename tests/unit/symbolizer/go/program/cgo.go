// SPDX-License-Identifier: Apache-2.0

//go:build cgo

package main

/*
#include <stdlib.h>

static int compare(const void* a, const void* b) { return *(const int*)a - *(const int*)b; }
void sort_numbers(int* numbers, int count) { qsort(numbers, count, sizeof(int), compare); }
*/
import "C"

func init() {
	numbers := []C.int{3, 1, 2}
	C.sort_numbers(&numbers[0], 3)
}
