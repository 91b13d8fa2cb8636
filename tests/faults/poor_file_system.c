/* Makes the calls of a process fail as on a file system that lacks them, as TEST_WITHOUT says:
   "flock" (the lock of whole files), "locks" (all locks, as NFS without its lock daemon), "mmap" (shared
   memory, as some FUSE and network shares). Loaded with LD_PRELOAD. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>

static int without(const char *what) {
    const char *lacking = getenv("TEST_WITHOUT");
    return lacking && strcmp(lacking, what) == 0;
}

int fcntl(int file, int command, ...) {
    int (*real)(int, int, void *) = dlsym(RTLD_NEXT, "fcntl");
    va_list rest;
    va_start(rest, command);
    void *argument = va_arg(rest, void *);
    va_end(rest);
    if (without("locks") && (command == F_SETLK || command == F_SETLKW || command == F_GETLK ||
                             command == F_OFD_SETLK)) {
        errno = ENOLCK;
        return -1;
    }
    return real(file, command, argument);
}

int fcntl64(int file, int command, ...) {
    va_list rest;
    va_start(rest, command);
    void *argument = va_arg(rest, void *);
    va_end(rest);
    return fcntl(file, command, argument);
}

int flock(int file, int how) {
    int (*real)(int, int) = dlsym(RTLD_NEXT, "flock");
    if (without("locks") || without("flock")) {
        errno = ENOLCK;
        return -1;
    }
    return real(file, how);
}

static void *mapped(const char *name, void *at, size_t size, int access, int flags, int file, off_t offset) {
    void *(*real)(void *, size_t, int, int, int, off_t) = dlsym(RTLD_NEXT, name);
    if (without("mmap") && (flags & MAP_SHARED) && file >= 0) {
        errno = ENODEV;
        return MAP_FAILED;
    }
    return real(at, size, access, flags, file, offset);
}

void *mmap(void *at, size_t size, int access, int flags, int file, off_t offset) {
    return mapped("mmap", at, size, access, flags, file, offset);
}

void *mmap64(void *at, size_t size, int access, int flags, int file, off_t offset) {
    return mapped("mmap64", at, size, access, flags, file, offset);
}
